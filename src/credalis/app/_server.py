"""Routes of the page; what they answer is described in the docstring of the package."""

import asyncio
import filecmp
import json
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from importlib.resources import files
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    JSONResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route

from credalis.app._folder import (
    ARRAY,
    RESULTS,
    TAKEN,
    Folder,
    checked_name,
    is_result,
    link_table,
    unzipped,
    work_names,
    zipped,
)
from credalis.app._session import Session
from credalis.app._settings import REPORT, Settings
from credalis.app._workers import (
    WorkCancelledError,
    Worker,
    WorkFailedError,
)

MAX_UPLOAD_BYTES = 2**29
_MAX_JSON_BYTES = 2**23
_MAX_LOSSES = 400
_N_QUESTIONS = 6
# The longest silence on a stream of events, and the shortest time between two.
_SILENCE, _PAUSE = 15.0, 0.05

_TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
}
# A report has its scripts in itself. It may run them, but in no way as this page.
_REPORT_POLICY = (
    "sandbox allow-scripts allow-downloads; default-src 'none'; "
    "script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:"
)

Handler = Callable[[Request], Awaitable[Response]]


class RefusedError(Exception):
    """A request that cannot be granted.

    Parameters
    ----------
    status : int
        The number that HTTP has for it.
    message : str
        What is wrong, and how to mend it.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Page:
    """The server of one session.

    Parameters
    ----------
    folder : Folder
        Where the session is kept.
    max_upload : int
        The longest upload, in bytes.
    """

    def __init__(self, folder: Folder, max_upload: int = MAX_UPLOAD_BYTES) -> None:
        self.folder = folder
        self.session = Session(folder)
        self.max_upload = max_upload
        # One for what takes long and can be cancelled, one for quick questions.
        self.heavy, self.light = Worker(), Worker()
        self.job: dict[str, Any] | None = None
        self._task: asyncio.Task[None] | None = None
        self._n_jobs = 0
        self._is_over = asyncio.Event()

    def app(self) -> Starlette:
        """The application."""
        routes = [
            ("/", self._index, "GET"),
            ("/static/{name}", self._static, "GET"),
            ("/api/state", self._state, "GET"),
            ("/api/events", self._events, "GET"),
            ("/api/methods", self._methods, "GET"),
            ("/api/table", self._upload, "PUT"),
            ("/api/demo", self._demo, "POST"),
            ("/api/preview", self._preview, "GET"),
            ("/api/settings", self._settings, "PATCH"),
            ("/api/peaks", self._peaks, "GET"),
            ("/api/recommendation", self._recommend, "POST"),
            ("/api/runs", self._run, "POST"),
            ("/api/job", self._cancel, "DELETE"),
            ("/api/runs/{number:int}/files/{name}", self._file, "GET"),
            ("/api/runs/{number:int}/objects/{object:int}", self._object, "GET"),
            ("/api/runs/{number:int}/questions", self._questions, "GET"),
            ("/api/runs/{number:int}/tree", self._tree, "GET"),
            ("/api/runs/{number:int}/archive", self._archive, "GET"),
            ("/api/answers", self._answer, "POST"),
            ("/api/answers/last", self._undo, "DELETE"),
            ("/api/answers/{number:int}", self._remove_answer, "DELETE"),
            ("/api/work", self._save, "GET"),
            ("/api/work", self._open, "PUT"),
            ("/api/session", self._forget, "DELETE"),
        ]
        return Starlette(
            routes=[
                Route(path, _answering(handler), methods=[method])
                for path, handler, method in routes
            ],
            lifespan=self._life,
        )

    @asynccontextmanager
    async def _life(self, app: Starlette) -> AsyncIterator[None]:
        with suppress(OSError):
            await asyncio.gather(self.light.start(), self.heavy.start())
        try:
            yield
        finally:
            self._is_over.set()
            await self.close()

    async def close(self) -> None:
        """End the children."""
        await asyncio.gather(self.heavy.close(), self.light.close())
        if self._task is not None:
            with suppress(Exception):
                await self._task

    def end_streams(self) -> None:
        """Let tabs go, so that the server can end."""
        self._is_over.set()

    def has_table(self, path: Path) -> bool:
        """Whether the session is about this very table."""
        known = self.session.table
        if known is None or known["name"] != checked_name(path.name):
            return False
        stored = self.folder.tables / known["name"]
        if path.is_dir() or stored.is_dir():
            return stored.resolve() == path.resolve()
        return filecmp.cmp(path, stored, shallow=False)

    async def take_table(self, path: Path) -> None:
        """Begin with a table of the user, who has named it on the command line."""
        name = checked_name(path.name)
        place = self.folder.incoming() / name
        _remove(place)
        if path.is_dir():
            link_table(path, place)
        else:
            shutil.copyfile(path, place)
        await self._begin(place, name)

    # Files of the page itself.

    async def _index(self, request: Request) -> Response:
        return _resource("index.html")

    async def _static(self, request: Request) -> Response:
        return _resource(request.path_params["name"])

    # State.

    def _public(self) -> dict[str, Any]:
        return {
            **self.session.to_dict(),
            "job": self.job,
            "is_reopened": self.session.is_reopened,
            "max_upload": self.max_upload,
        }

    async def _state(self, request: Request) -> Response:
        return JSONResponse(self._public())

    async def _events(self, request: Request) -> Response:
        news = asyncio.Event()
        news.set()
        deaf = self.session.listen(news.set)

        async def stream() -> AsyncIterator[str]:
            seen = -1
            try:
                while not self._is_over.is_set():
                    news.clear()
                    if self.session.version != seen:
                        seen = self.session.version
                        yield f"event: state\ndata: {json.dumps(self._public())}\n\n"
                    else:
                        yield f"event: job\ndata: {json.dumps(self.job)}\n\n"
                    await asyncio.sleep(_PAUSE)
                    await self._wait(news)
            finally:
                deaf()

        return StreamingResponse(stream(), media_type="text/event-stream")

    async def _wait(self, news: asyncio.Event) -> None:
        """Until there is something new, or the silence gets long, or all is over."""
        waiting = [
            asyncio.ensure_future(news.wait()),
            asyncio.ensure_future(self._is_over.wait()),
        ]
        await asyncio.wait(
            waiting, timeout=_SILENCE, return_when=asyncio.FIRST_COMPLETED
        )
        for each in waiting:
            each.cancel()

    # The table.

    async def _upload(self, request: Request) -> Response:
        name = checked_name(request.query_params.get("name", ""))
        place = await self._received(request, name)
        return JSONResponse(await self._begin(place, name))

    async def _received(self, request: Request, name: str) -> Path:
        """The body of a request in a file; too long a one is not even begun."""
        limit = self.max_upload
        length = request.headers.get("content-length", "0")
        too_long = RefusedError(
            413,
            f"the file is larger than {limit // 2**20} MB, which is the most the page "
            "takes: use credalis cluster, which has no limit, or a sample of the rows",
        )
        if not length.isdecimal() or int(length) > limit:
            raise too_long
        folder = Path(tempfile.mkdtemp(dir=self.folder.incoming()))
        place, n_bytes = folder / name, 0
        try:
            with open(place, "xb") as stream:
                async for chunk in request.stream():
                    n_bytes += len(chunk)
                    if n_bytes > limit:
                        raise too_long
                    stream.write(chunk)
            if not n_bytes:
                raise ValueError(f"{name} is empty")
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return place

    async def _begin(self, place: Path, name: str) -> dict[str, Any]:
        """Look at a table and, if it is one, begin with it."""
        given = {
            "folder": str(place.parent),
            "table": name,
            "settings": Settings().to_dict(),
            "usual": None,
        }
        try:
            preview = await self.light.do("preview", given)
            await self._stop()
            target = self.folder.tables / name
            _remove(target)
            os.replace(place, target)
        finally:
            if place.parent != self.folder.incoming():
                shutil.rmtree(place.parent, ignore_errors=True)
            else:
                _remove(place)
        size = 0 if target.is_dir() else target.stat().st_size
        self.session.begin_table(name, size, preview)
        return preview

    async def _demo(self, request: Request) -> Response:
        folder = Path(tempfile.mkdtemp(dir=self.folder.incoming()))
        given = {"folder": str(folder)}
        demo = await self.light.do("demo", given)
        preview = await self._begin(folder / demo["name"], demo["name"])
        self.session.change_settings({"roles": demo["roles"]})
        return JSONResponse(preview)

    def _given(self) -> dict[str, Any]:
        """What a child needs to know about the table."""
        table = self.session.table
        if table is None:
            raise RefusedError(
                409, "there is no table yet: drop a file, or try the demo"
            )
        return {
            "folder": str(self.folder.tables),
            "table": table["name"],
            "settings": self.session.settings.to_dict(),
            "usual": table["usual"],
        }

    async def _preview(self, request: Request) -> Response:
        return JSONResponse(await self.light.do("preview", self._given()))

    async def _settings(self, request: Request) -> Response:
        self.session.change_settings(await _json(request))
        return JSONResponse({"version": self.session.version})

    async def _methods(self, request: Request) -> Response:
        return JSONResponse(await self.light.do("methods", {}))

    # How many, and where.

    async def _peaks(self, request: Request) -> Response:
        return JSONResponse(await self.light.do("peaks", self._given()))

    async def _recommend(self, request: Request) -> Response:
        given = self._given()

        async def work(job: dict[str, Any]) -> None:
            found = await self.heavy.do("recommend", given, self._listener(job))
            if self._given()["table"] == given["table"]:
                self.session.recommendation = found
                if found["best"] and self.session.settings.n_clusters is None:
                    self.session.change_settings({"n_clusters": found["best"]})
                self.session.changed()

        await self._start("recommendation", work)
        return JSONResponse({"job": self.job}, status_code=202)

    # Fits.

    async def _run(self, request: Request) -> Response:
        given = self._given()
        session = self.session
        number = 1 + max((run["number"] for run in session.runs), default=0)
        before = session.last_result()
        given |= {
            "folder": str(self.folder.run(number)),
            "answers": session.answers,
            "before": None
            if before is None
            else str(self.folder.run(before["number"])),
        }
        run: dict[str, Any] = {
            "number": number,
            # Results of another table have the same numbers.
            "id": secrets.token_hex(8),
            "status": "running",
            "settings": session.settings.to_dict(),
            "n_answers": len(session.answers),
            "before": None if before is None else before["number"],
        }

        def hear_result(event: dict[str, Any]) -> None:
            if "result" in event:
                run.update(event["result"], status="done")
                session.changed()

        async def work(job: dict[str, Any]) -> None:
            job["run"] = number
            session.runs.append(run)
            session.changed()
            try:
                self.folder.new_run(number, given["table"])
                found = await self.heavy.do(
                    "fit", given, self._listener(job, hear_result)
                )
                run.update(found, status="done")
            except WorkCancelledError:
                if run["status"] != "done":
                    run["status"] = "cancelled"
                    self.folder.remove_run(number)
            except WorkFailedError as error:
                if run["status"] == "done":
                    # The report alone could not be written.
                    run["warnings"] = [*run["warnings"], str(error)]
                else:
                    run.update(status="failed", error=str(error))
                    self.folder.remove_run(number)
            except OSError as error:
                run.update(status="failed", error=f"{error.strerror or error}")
                self.folder.remove_run(number)
            finally:
                session.changed()

        await self._start("fit", work)
        return JSONResponse({"number": number}, status_code=202)

    async def _start(
        self, kind: str, work: Callable[[dict[str, Any]], Awaitable[None]]
    ) -> None:
        """Begin what takes long; one thing at a time."""
        if self.job is not None and self.job["kind"] == "recommendation":
            await self._stop()
        if self.job is not None:
            raise RefusedError(409, "a fit is running: cancel it, or wait")
        self._n_jobs += 1
        job: dict[str, Any] = {
            "id": self._n_jobs,
            "kind": kind,
            "started": time.time(),
            "event": {"stage": "starting", "share": None},
            "losses": [],
            "is_cancelled": False,
        }
        self.job = job

        async def whole() -> None:
            try:
                if not job["is_cancelled"]:
                    await work(job)
            except WorkCancelledError:
                pass
            except WorkFailedError as error:
                self.session.recommendation = {
                    "best": None,
                    "reason": str(error),
                    "votes": [],
                    "notes": [],
                }
            finally:
                self.job = None
                self.session.changed()

        self.session.tell()
        self._task = asyncio.create_task(whole())

    def _listener(
        self,
        job: dict[str, Any],
        also: Callable[[dict[str, Any]], None] | None = None,
    ) -> Callable[[dict[str, Any]], None]:
        def hear(event: dict[str, Any]) -> None:
            if also is not None:
                also(event)
            losses = job["losses"]
            if event.get("loss") is not None:
                if event.get("run") != job["event"].get("run"):
                    losses.clear()
                losses.append([event["iteration"], event["loss"]])
                if len(losses) > _MAX_LOSSES:
                    del losses[1:-1:2]
            job["event"] = {k: v for k, v in event.items() if k != "result"}
            self.session.tell()

        return hear

    async def _cancel(self, request: Request) -> Response:
        was_running = self.job is not None
        await self._stop()
        return JSONResponse({"cancelled": was_running})

    async def _stop(self) -> None:
        """End what is running, if anything is."""
        if self.job is not None:
            self.job["is_cancelled"] = True
            await self.heavy.cancel()
            if self._task is not None:
                await self._task

    # Results.

    def _folder_of(self, request: Request) -> Path:
        number = request.path_params["number"]
        try:
            self.session.run(number)
        except ValueError as error:
            raise RefusedError(404, str(error)) from error
        return self.folder.run(number)

    async def _file(self, request: Request) -> Response:
        folder, name = self._folder_of(request), request.path_params["name"]
        path = folder / name
        if not is_result(name) or not path.is_file():
            raise RefusedError(404, f"there is no file {name!r:.80}")
        if ARRAY.fullmatch(name):
            return FileResponse(path, media_type="application/octet-stream")
        if name in RESULTS:
            return FileResponse(path, media_type="application/json")
        if name == REPORT and "view" in request.query_params:
            headers = {"Content-Security-Policy": _REPORT_POLICY}
            return FileResponse(path, media_type="text/html", headers=headers)
        kind = "text/plain" if name.endswith(".py") else "application/octet-stream"
        return FileResponse(path, media_type=kind, filename=name)

    async def _object(self, request: Request) -> Response:
        folder = self._folder_of(request)
        number = request.path_params["object"]
        given = {"folder": str(folder), "number": number}
        return JSONResponse(await self.light.do("object", given))

    async def _tree(self, request: Request) -> Response:
        given = {"folder": str(self._folder_of(request))}
        return JSONResponse(await self.light.do("tree", given))

    async def _questions(self, request: Request) -> Response:
        given = {
            "folder": str(self._folder_of(request)),
            "n_pairs": _N_QUESTIONS,
            "answers": self.session.answers,
        }
        return JSONResponse(await self.light.do("questions", given))

    async def _archive(self, request: Request) -> Response:
        """Everything to take away, in one file."""
        number = request.path_params["number"]
        self._folder_of(request)
        table = self._given()["table"]
        names = [f"runs/{number}/{name}" for name in (*TAKEN, table)]
        stem = Path(table).stem
        return await self._zip(names, f"{stem}-result-{number}.zip", is_flat=True)

    async def _zip(self, names: list[str], title: str, *, is_flat: bool) -> Response:
        handle, path = tempfile.mkstemp(dir=self.folder.incoming())
        with os.fdopen(handle, "wb") as stream:
            await asyncio.to_thread(zipped, self.folder, names, stream, is_flat=is_flat)
        return FileResponse(
            path,
            media_type="application/zip",
            filename=title,
            background=BackgroundTask(os.unlink, path),
        )

    # Answers.

    async def _answer(self, request: Request) -> Response:
        self.session.add_answer(await _json(request))
        return JSONResponse({"answers": self.session.answers})

    async def _undo(self, request: Request) -> Response:
        self.session.remove_answer(None)
        return JSONResponse({"answers": self.session.answers})

    async def _remove_answer(self, request: Request) -> Response:
        self.session.remove_answer(request.path_params["number"])
        return JSONResponse({"answers": self.session.answers})

    # Work in a file.

    async def _save(self, request: Request) -> Response:
        table = self._given()["table"]
        runs = [run["number"] for run in self.session.runs if run["status"] == "done"]
        names = work_names(self.folder, table, runs)
        title = f"{Path(table).stem}.credalis-work"
        return await self._zip(names, title, is_flat=False)

    async def _open(self, request: Request) -> Response:
        place = await self._received(request, "work")
        fresh = place.parent / "unpacked"
        fresh.mkdir()
        try:
            await asyncio.to_thread(unzipped, place, fresh)
            # A folder of its own first: what is no work must not replace one.
            trial = Session(_Unpacked(fresh))
            trial.reopen()
            if trial.table is None:
                raise ValueError("the work has no table")
            await self._stop()
            self.folder.clear_work()
            for name in ("table", "runs", "session.json"):
                if (fresh / name).exists():
                    os.replace(fresh / name, self.folder.path / name)
            for run in trial.runs:
                number, table = run["number"], trial.table["name"]
                if run["status"] == "done":
                    link_table(
                        self.folder.tables / table, self.folder.run(number) / table
                    )
            self.session.reopen()
        finally:
            shutil.rmtree(place.parent, ignore_errors=True)
        return JSONResponse({"version": self.session.version})

    async def _forget(self, request: Request) -> Response:
        await self._stop()
        self.session.forget()
        return JSONResponse({"version": self.session.version})


class _Unpacked(Folder):
    """A folder without a lock, to try what is in it."""

    def __init__(self, path: Path) -> None:
        self._lock = None
        self.path = path


def _answering(handler: Handler) -> Handler:
    """Errors become answers that say what is wrong."""

    async def answer(request: Request) -> Response:
        try:
            return await handler(request)
        except RefusedError as error:
            return _problem(error.status, str(error))
        except WorkFailedError as error:
            return _problem(422, str(error))
        except WorkCancelledError:
            return _problem(409, "this was cancelled")
        except ValueError as error:
            return _problem(400, str(error))
        except OSError as error:
            return _problem(507, f"{error.strerror or error}".lower())

    return answer


def _problem(status: int, message: str) -> Response:
    return JSONResponse(
        {"error": message}, status_code=status, headers={"Connection": "close"}
    )


async def _json(request: Request) -> Any:
    """The body of a request, of a length that makes sense."""
    parts, n_bytes = [], 0
    async for chunk in request.stream():
        n_bytes += len(chunk)
        if n_bytes > _MAX_JSON_BYTES:
            raise RefusedError(413, "the request is too long")
        parts.append(chunk)
    try:
        return json.loads(b"".join(parts))
    except ValueError as error:
        raise ValueError("the request is not JSON") from error


def _resource(name: str) -> Response:
    """A file of the page, which is in the package."""
    kind = _TYPES.get(Path(name).suffix)
    place = files("credalis").joinpath("app/static", name)
    if kind is None or Path(name).name != name or not place.is_file():
        raise RefusedError(404, f"there is no file {name!r:.80}")
    return Response(place.read_bytes(), media_type=kind)


def _remove(path: Path) -> None:
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.is_dir():
        shutil.rmtree(path)
