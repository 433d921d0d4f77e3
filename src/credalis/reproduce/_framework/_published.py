"""The numbers that the paper prints, from the file beside this one."""

import json
from functools import cache
from pathlib import Path
from typing import Any


@cache
def published() -> dict[str, Any]:
    """Tables and values of the paper; the file says where they come from."""
    text = Path(__file__).with_name("published.json").read_text("utf-8")
    return json.loads(text)
