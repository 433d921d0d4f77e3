"""The page: the journey from a table to an answer, in a browser, without code.

``credalis app [TABLE]`` starts a server on this machine and opens the page. It needs
Starlette and uvicorn, which come with ``pip install "credalis[app]"``.

**Who does what.** The server (`_server`, behind `_guard`) keeps the session
(`_session`, in a private `_folder`) and computes nothing. Two child processes
(`_workers`; in the child `_child` and `_jobs`) compute: one what takes long and can be
cancelled by killing it, one what is quick. A fit of the page *is* the command
``credalis cluster``: `_settings` and `_side` turn choices and answers into its words
and files, the child runs them in a folder of its own (``runs/N``, with the table in
it), and these words are what the page shows as the command that reproduces the result;
`_code` writes lines of Python that do the same. `_tables`, `_numbers`, `_results` and
`_objects` say what the page shows, in the words of the report.

**Routes.** All answers are JSON unless said otherwise; an error is ``{"error": text}``
with status 400 (wrong), 403 (not allowed), 404, 409 (not now), 413 (too long) or 422
(the library says no, in its own words).

==================================  ================================================
``GET /?token=T``                   once: a cookie for the token; then ``GET /``
``GET /static/NAME``                files of the page
``GET /api/state``                  the state, see below
``GET /api/events``                 server-sent events: ``state`` (the state) after a
                                    change, ``job`` (its ``job``) while one runs
``GET /api/methods``                methods with words about each
``PUT /api/table?name=N``           body: the file; a preview
``POST /api/demo``                  begin with the demo; a preview
``GET /api/preview``                columns, first rows, decisions, problem
``PATCH /api/settings``             some of `_settings.Settings`
``GET /api/peaks``                  the δ-Bel graph for the settings
``POST /api/recommendation``        202: how many clusters; comes with the state
``POST /api/runs``                  202 ``{"number"}``: fit; comes with the state
``DELETE /api/job``                 cancel what runs, at once
``GET /api/runs/N/files/NAME``      ``result.json``, ``names.json``, arrays
                                    (``rows labels second kinds sets`` int32,
                                    ``doubt axis-J`` float32, all ``.bin``), and what
                                    is taken away; ``report.html?view`` to look at it
``GET /api/runs/N/objects/I``       masses, why it is there, its row of the table
``GET /api/runs/N/tree``            a small decision tree of the partition
``GET /api/runs/N/questions``       pairs to ask about, side by side
``GET /api/runs/N/archive``         a ZIP of everything to take away
``POST /api/answers``               ``{"kind": "pair", "a", "b", "answer"}`` or
                                    ``{"kind": "group", "name", "rows"}``
``DELETE /api/answers/last``        undo; ``/api/answers/ID`` takes back that one
``GET /api/work``                   the work as a file; ``PUT`` opens one
``DELETE /api/session``             forget everything
==================================  ================================================

**State.** ``{"version", "table": {"name", "size", "usual"}, "settings", "answers",
"runs", "recommendation", "job", "is_reopened", "max_upload"}``. A run has
``number``, an ``id`` that no other has, ``status`` (running, done, failed, cancelled,
interrupted), ``settings``, ``n_answers``, ``before`` and, once it is done,
``command``, ``method``, ``n_clusters``, ``facts``, ``warnings``, ``files``,
``seconds``; if it has failed, ``error``. The job has ``kind``
(fit, recommendation), ``started``, ``event`` (``stage``, ``share``, ``run``,
``iteration``, ``loss`` …) and ``losses``, pairs of iteration and loss. *Objects* are
numbered as they are clustered, *rows* as they are in the table (some may be left out).

**Modules of the page** (``static``, plain ES modules, no build): ``main.js`` has the
state and the steps, ``api.js`` the requests, ``dom.js`` makes elements (text is only
ever ``textContent``), ``scatter.js`` the canvas with grid index, lasso and keys,
``lines.js`` small charts, ``types.js`` the shapes of what the server says, and
``data.js number.js method.js run.js result.js answer.js takeaway.js`` a step each:
``create(app)`` returns ``{element, update(state)}``. Types are in JSDoc.
"""

import sys
from pathlib import Path
from typing import Any

__all__ = ["run"]

_HOW_TO_INSTALL = 'the page needs Starlette and uvicorn: pip install "credalis[app]"'


def run(
    table: str | None = None,
    *,
    port: int = 0,
    opens_browser: bool = True,
    folder: str | Path | None = None,
) -> None:
    """Serve the page on this machine until Ctrl-C.

    Parameters
    ----------
    table : str, default=None
        File to begin with; None: take up the work that was left, if there is some.
    port : int, default=0
        Where to listen; 0: any free port.
    opens_browser : bool, default=True
        Whether to open the page.
    folder : str or path, default=None
        Where sessions are kept; None: where programs of this user keep what is theirs.
    """
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise ImportError(_HOW_TO_INSTALL) from error
    from credalis.app._run import serve

    serve(table, port=port, opens_browser=opens_browser, folder=folder, say=_say)


def _say(text: str, **options: Any) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
