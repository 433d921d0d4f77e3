"""A child process of the server: reads work from standard input, a line of JSON each.

Whatever it has to say goes to standard output, a line each: ``{"id", "event"}`` while
it is at work, and ``{"id", "done"}`` or ``{"id", "error"}`` at the end. It ends with
its parent: when standard input is closed, also in the middle of a fit.
"""

import json
import math
import os
import queue
import sys
import threading
import traceback
from typing import Any, TextIO


def main() -> None:
    """Work until nobody asks any more."""
    # Whatever a library prints must not get between the lines.
    stream = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    requests: queue.Queue[str] = queue.Queue()
    threading.Thread(target=_listen, args=(requests,), daemon=True).start()
    # After the thread has begun: imports take a second.
    from credalis.app._jobs import Jobs

    jobs = Jobs()
    while True:
        _answer(jobs, json.loads(requests.get()), stream)


def _listen(requests: "queue.Queue[str]") -> None:
    for line in sys.stdin:
        requests.put(line)
    os._exit(0)


def _answer(jobs: Any, request: dict[str, Any], stream: TextIO) -> None:
    """Do the work, and write what came of it."""
    number = request["id"]

    def tell(event: dict[str, Any]) -> None:
        _write(stream, {"id": number, "event": event})

    try:
        done = jobs.do(request["kind"], tell, request["given"])
        _write(stream, {"id": number, "done": done})
    except Exception as error:
        _write(stream, {"id": number, "error": _message(error)})


def _message(error: Exception) -> str:
    """One line about an error, in the words of the command line."""
    import click

    from credalis.cli._main import message_of

    if isinstance(error, click.ClickException):
        return error.format_message()
    if not isinstance(error, (ValueError, OSError, ImportError, MemoryError)):
        traceback.print_exc()
    return message_of(error)


def _write(stream: TextIO, message: dict[str, Any]) -> None:
    try:
        line = json.dumps(message, allow_nan=False)
    except ValueError:
        line = json.dumps(_finite(message), allow_nan=False)
    stream.write(line + "\n")
    stream.flush()


def _finite(value: Any) -> Any:
    """The same without numbers that JSON does not have."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


if __name__ == "__main__":
    main()
