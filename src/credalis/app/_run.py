"""Starts the server, says where it is, and ends it."""

import asyncio
import os
import socket
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvicorn

from credalis.app._folder import Folder, state_folder
from credalis.app._guard import Guard
from credalis.app._server import Page
from credalis.app._workers import WorkFailedError


class _Server(uvicorn.Server):
    """Lets go of streams of events when it shall end."""

    page: Page

    def handle_exit(self, sig: int, frame: Any) -> None:
        self.page.end_streams()
        super().handle_exit(sig, frame)


def serve(
    table: str | None,
    *,
    port: int,
    opens_browser: bool,
    folder: str | Path | None,
    say: Callable[[str], None],
) -> None:
    """As `credalis.app.run`."""
    path = None if table is None else Path(table)
    if path is not None and not path.exists():
        raise FileNotFoundError(f"there is no file {table}")
    own = Folder(state_folder() if folder is None else Path(folder))
    try:
        with _listening(port) as listener:
            asyncio.run(_serve(own, path, listener, opens_browser, say))
    except KeyboardInterrupt:
        pass
    finally:
        own.close()
    say("Stopped. What you did is kept: credalis app takes it up again.")


def _listening(port: int) -> socket.socket:
    """A socket on this machine alone."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name != "nt":
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
    except OSError as error:
        listener.close()
        raise OSError(f"port {port} is taken: choose another with --port") from error
    # Whoever is quicker than the server waits for it.
    listener.listen(128)
    return listener


async def _serve(
    folder: Folder,
    table: Path | None,
    listener: socket.socket,
    opens_browser: bool,
    say: Callable[[str], None],
) -> None:
    page = Page(folder)
    problem = _taken_up(page)
    if problem:
        say(f"The work that was left cannot be opened ({problem}): starting afresh.")
    if table is not None and not page.has_table(table):
        try:
            await page.take_table(table)
        except WorkFailedError as error:
            await page.close()
            raise ValueError(str(error)) from error
    guard = Guard(page.app(), listener.getsockname()[1])
    config = uvicorn.Config(
        guard,
        log_level="error",
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=1,
        lifespan="on",
    )
    server = _Server(config)
    server.page = page
    say(f"The page is at {guard.address}")
    say("Nothing leaves this machine. Ctrl-C ends the server.")
    if opens_browser:
        asyncio.get_running_loop().call_later(
            0.2, lambda: asyncio.ensure_future(_open(guard.address))
        )
    await server.serve(sockets=[listener])


def _taken_up(page: Page) -> str:
    """Reopen the work that was left; what is wrong with it, if something is."""
    try:
        page.session.reopen()
    except (ValueError, OSError, KeyError, TypeError) as error:
        page.session.forget()
        return str(error)
    return ""


async def _open(address: str) -> None:
    await asyncio.to_thread(webbrowser.open, address)
