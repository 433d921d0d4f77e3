"""Who may talk to the server: this machine, this page, this browser."""

import asyncio
import hmac
import secrets
from contextlib import suppress
from http.cookies import CookieError, SimpleCookie
from typing import Any

from starlette.responses import PlainTextResponse, RedirectResponse, Response

_CHANGING = ("POST", "PUT", "PATCH", "DELETE")

# How much of what comes with a refused request is read, in bytes and seconds.
_MOST_READ, _LONGEST = 2**20, 1.0

HEADERS = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; object-src 'none'; "
    "img-src 'self' blob: data:",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Guard:
    """Refuses requests before anything looks at them.

    The address that is opened has a token that works once: it is exchanged for a
    cookie that scripts cannot read and other sites cannot send. A request must name
    this server as its host, which a page of another site that has been pointed here by
    its name server does not, and one that changes something must come from this page.

    Parameters
    ----------
    app : ASGI application
        What is guarded.
    port : int
        Where the server listens.
    """

    def __init__(self, app: Any, port: int) -> None:
        self._app = app
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self._cookie = f"credalis-{port}"
        self._token: str | None = secrets.token_urlsafe(32)
        self._secret = secrets.token_urlsafe(32)
        self.address = f"http://127.0.0.1:{port}/?token={self._token}"

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = _Body(scope, receive)
        response = self._refusal(scope)
        if response is not None:
            response.headers.update(HEADERS)
            # What was sent with it may be too long to be read.
            response.headers["Connection"] = "close"
            await body.read_rest()
            await response(scope, receive, send)
            return

        async def send_guarded(message: Any) -> None:
            if message["type"] == "http.response.start":
                await body.read_rest()
                known = {name.lower() for name, _ in message["headers"]}
                message["headers"] += [
                    (name.lower().encode(), value.encode())
                    for name, value in HEADERS.items()
                    if name.lower().encode() not in known
                ]
            await send(message)

        await self._app(scope, body.receive, send_guarded)

    def _refusal(self, scope: Any) -> Response | None:
        """What to answer instead, None if the request may pass."""
        headers = {
            name.decode("latin-1"): value.decode("latin-1")
            for name, value in scope["headers"]
        }
        host = headers.get("host", "")
        if host not in self._hosts:
            return _refused("this server is only here for 127.0.0.1")
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{host}":
            return _refused("this request comes from another site")
        is_change = scope["method"] in _CHANGING
        site = headers.get("sec-fetch-site")
        is_own = origin is not None or site in ("same-origin", "none")
        if is_change and not is_own:
            return _refused("this request does not come from the page")
        has_cookie = self._has_cookie(headers.get("cookie", ""))
        query = scope["query_string"].decode("latin-1")
        if scope["path"] == "/" and query.startswith("token="):
            return self._exchanged(query.removeprefix("token="), has_cookie)
        is_page = scope["path"] == "/"
        if site in ("cross-site", "same-site") and not is_page:
            return _refused("this request comes from another site")
        if not has_cookie:
            return _refused(
                "open the address that credalis app has printed: it holds a token, "
                "which works once"
            )
        return None

    def _exchanged(self, token: str, has_cookie: bool) -> Response:
        """A cookie for the token, once."""
        is_right = self._token is not None and hmac.compare_digest(
            token.encode(), self._token.encode()
        )
        if not is_right and not has_cookie:
            return _refused(
                "this address has been used, or is not the one that was printed: go "
                "to the browser where you have opened it, or start credalis app again"
            )
        response = RedirectResponse("/", status_code=303)
        if is_right:
            self._token = None
            response.set_cookie(
                self._cookie, self._secret, httponly=True, samesite="strict", path="/"
            )
        return response

    def _has_cookie(self, text: str) -> bool:
        try:
            morsel = SimpleCookie(text).get(self._cookie)
        except CookieError:
            return False
        return morsel is not None and hmac.compare_digest(
            morsel.value.encode(), self._secret.encode()
        )


class _Body:
    """What comes with a request, of which an answer may not have read all.

    A connection that is closed with something unread in it is reset, and whoever sent
    that never sees the answer. So a little that is left is read first.

    Parameters
    ----------
    scope : mapping
        The head of the request.
    receive : callable
        Gives the parts, one by one.
    """

    def __init__(self, scope: Any, receive: Any) -> None:
        self._receive = receive
        length = dict(scope["headers"]).get(b"content-length", b"0")
        self._is_long = not length.isdigit() or int(length) > _MOST_READ
        self._is_over = False

    async def receive(self) -> Any:
        """The next part."""
        message = await self._receive()
        self._is_over = not message.get("more_body", False)
        return message

    async def read_rest(self) -> None:
        """Read what is left, unless that is much or slow to come."""
        if self._is_long:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(_LONGEST):
                n_bytes = 0
                while not self._is_over and n_bytes <= _MOST_READ:
                    n_bytes += len((await self.receive()).get("body", b""))


def _refused(why: str) -> Response:
    return PlainTextResponse(f"Refused: {why}.\n", status_code=403)
