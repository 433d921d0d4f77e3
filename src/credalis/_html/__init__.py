"""HTML pages from templates of Jinja2, in which every value is text.

A template stands beside the code that fills it, ``page.html.j2`` here is the frame of
all pages and ``tables.html.j2`` has their tables. What is no text, a style sheet or a
script of our own, the template marks as safe. Jinja2 is imported when a page is made.
"""

from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment


def render(template: str, **values: Any) -> str:
    """The page that a template, a path inside the package, makes of these values."""
    return environment().get_template(template).render(values)


def read_resource(path: str) -> str:
    """A style sheet or a script, a path inside the package."""
    return files("credalis").joinpath(path).read_text(encoding="utf-8")


def import_jinja() -> Any:
    """``jinja2``, or an ImportError that says how to get it."""
    try:
        import jinja2
    except ImportError as error:
        raise ImportError(
            "HTML pages need Jinja2: pip install 'credalis[report]'"
        ) from error
    return jinja2


@lru_cache(maxsize=1)
def environment() -> "Environment":
    """Where templates are found, and how values get into them."""
    jinja2 = import_jinja()
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("credalis", ""),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {
        "allow_nan": False,
        "ensure_ascii": False,
        "separators": (",", ":"),
    }
    return environment
