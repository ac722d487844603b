"""Serves an application over real HTTP on the loopback interface, in a thread of this process."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from protocols.errors import SourceUnavailable

if TYPE_CHECKING:
    from starlette.applications import Starlette

CLOSE = "toolflow.close"
"""Name of an extension in the ASGI scope: a function that closes the client's connection."""

INSTALL = 'pip install "automatic-tool-chain[toolflow]"'
"""Command that installs the Python packages which the services need."""


class RunningService:
    """A running service. Close it, or use it as a context manager.

    `url` has no trailing slash.
    """

    def __init__(self, app: Starlette, url: str, *, server: Any, thread: threading.Thread) -> None:
        self.app = app
        self.url = url
        self._server = server
        self._thread = thread

    @property
    def document_url(self) -> str:
        """URL of the service's OpenAPI document."""
        return f"{self.url}/openapi.json"

    def stop(self) -> None:
        """Tell the service to stop. Its thread ends within 0.2 seconds, or with the process."""
        self._server.should_exit = True

    def close(self) -> None:
        """Stop listening, close all connections and wait for the thread.

        A second call does nothing.
        """
        self.stop()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def serve(app: Starlette, *, port: int = 0) -> RunningService:
    """Serve `app` on 127.0.0.1, by default on a free port.

    When this function returns, the service accepts requests.

    Raises:
        SourceUnavailable: the port is taken, or the service did not start.
    """
    import uvicorn

    listener = _listen(port)
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    # log_config=None: our host process owns its logging; ws="none": no probing for websocket
    # packages. A model may think for minutes between two calls: a connection closed meanwhile could
    # cost it a write.
    config = uvicorn.Config(
        app,
        http=_closable_protocol(),
        ws="none",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        timeout_keep_alive=600,
        timeout_graceful_shutdown=2,
    )
    server = uvicorn.Server(config)

    def work() -> None:
        with suppress(SystemExit), listener:  # uvicorn exits if it cannot start
            server.run(sockets=[listener])

    thread = threading.Thread(target=work, name=f"serve {url}", daemon=True)
    thread.start()
    while not server.started:
        if not thread.is_alive():
            raise SourceUnavailable(
                f"the service for {url} did not start; run it again to see if that lasts."
            )
        time.sleep(0.002)
    return RunningService(app, url, server=server, thread=thread)


def _closable_protocol() -> type[asyncio.Protocol]:
    """Return uvicorn's HTTP protocol class, extended so that a request can close its connection."""
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    class Closable(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self.app: Any = partial(self._with_close, self.app)

        async def _with_close(self, app: Any, scope: Any, receive: Any, send: Any) -> None:
            scope["extensions"] = {**scope.get("extensions", {}), CLOSE: self.transport.close}
            await app(scope, receive, send)

    return Closable


def _listen(port: int) -> socket.socket:
    # The protocol is named, because asyncio turns off Nagle's delay (40 ms for each response) only
    # for such sockets.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
    except OSError as error:
        listener.close()
        raise SourceUnavailable(
            f"port {port} on 127.0.0.1 cannot be used ({error.strerror}); choose another, or 0 "
            "for a free one."
        ) from error
    listener.listen(128)
    return listener
