"""The HTTP server of the viewer, which only this machine can reach.

Pages that are open in a browser are informed of changes by server-sent events.
"""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route

from atc.archive.recording import line_without_secrets, without_secrets
from atc.serve.stored_files import open_file
from atc.serve.view import run_page
from atc.serve.view.admission import Guard
from atc.serve.view.downloads import file_response
from atc.serve.view.resumes import Resumes
from atc.store import RunStore, UnknownRun
from atc.store.stored import RunSummary, StoredRun
from protocols.files import FileMissing

_NEWEST = 200
"""Number of runs that the list shows, unless the request asks for all."""
_PAUSE = 0.25
"""Seconds between two checks of the store for changes."""


class Viewer:
    """The web application that shows the runs of one store, and lets a person continue them."""

    def __init__(self, store: RunStore, resumes: Resumes) -> None:
        self._store = store
        self._resumes = resumes
        self.ending: Callable[[], bool] = lambda: False
        """Returns True when the server is shutting down. Then streams of events end."""
        self._known: dict[str, tuple[RunSummary, StoredRun]] = {}
        """The runs that were read for the list, keyed by id. Unchanged runs are not read again."""

    def app(self) -> Starlette:
        """Return the ASGI application that serves the pages."""
        return Starlette(
            routes=[
                Route("/", self._list),
                Route("/events", self._events),
                Route("/runs/{run}", self._run),
                Route("/runs/{run}/files/{digest}", self._file),
                Route("/runs/{run}/resume", self._resume, methods=["POST"]),
                Route("/runs/{run}/answer", self._answer, methods=["POST"]),
            ],
            exception_handlers={UnknownRun: _unknown, FileMissing: _unknown},
        )

    def _newest(self, *, every: bool) -> list[StoredRun]:
        """Return the newest runs for the list; all runs if `every` is True.

        Their secrets are replaced by placeholders.
        """
        found = []
        for summary in self._store.list(None if every else _NEWEST):
            known = self._known.get(summary.run_id)
            if known is None or known[0] != summary:
                known = summary, line_without_secrets(self._store.load(summary.run_id))
                self._known[summary.run_id] = known
            found.append(known[1])
        return found

    def _list(self, request: Request) -> Response:
        every = "all" in request.query_params
        live = f"events?seen={self._state()}"
        total = len(self._store.list(None))
        return HTMLResponse(run_page.listing(self._newest(every=every), total=total, live=live))

    def _run(self, request: Request) -> Response:
        live = f"../events?seen={self._state()}"
        stored = without_secrets(self._store.load(request.path_params["run"]))
        if stored.summary.run_id != request.path_params["run"]:
            return Response(status_code=307, headers={"location": stored.summary.run_id})
        return HTMLResponse(run_page.page(stored, act=self._resumes.show(stored), live=live))

    def _file(self, request: Request) -> Response:
        """Return a file of a run. Pictures may be displayed, everything else is downloaded."""
        place = request.path_params
        file = open_file(self._store, place["run"], place["digest"])
        if file is None:
            return PlainTextResponse("The run has no such file.\n", 404)
        return file_response(file)

    def _state(self) -> str:
        """Return a text that changes whenever there is something new to show on the open pages."""
        return f"{self._resumes.version}.{self._store.changes()}"

    def _events(self, request: Request) -> Response:
        changes = self._changes(request.query_params.get("seen", ""))
        return StreamingResponse(changes, media_type="text/event-stream")

    async def _changes(self, seen: str) -> AsyncIterator[str]:
        """Yield a server-sent event whenever there is something new to show on a page.

        `seen` is the state (see `_state`) that the open page shows.
        """
        while not self.ending():
            now = await run_in_threadpool(self._state)
            if now != seen:
                yield "data: changed\n\n"
            seen = now
            await anyio.sleep(_PAUSE)

    async def _resume(self, request: Request) -> Response:
        body = await _body(request)
        stored = await run_in_threadpool(self._store.load, request.path_params["run"])
        options = {name: body.get(name) is True for name in ("accept_orphans", "resend")}
        return _done(self._resumes.start(stored.summary.run_id, **options))

    async def _answer(self, request: Request) -> Response:
        body = await _body(request)
        number = body.get("question")
        allow = body.get("allow")
        if type(number) is not int or type(allow) is not bool:
            return JSONResponse({"error": "question and allow are wanted"}, 400)
        return _done(self._resumes.answer(request.path_params["run"], number, allow=allow))


async def _body(request: Request) -> dict[str, Any]:
    """Return the JSON object in the body of a request; {} if the body is anything else."""
    try:
        body = await request.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def _done(done: bool) -> Response:
    """Return the response to a request for an action: status 200 if it was done, else 409."""
    return JSONResponse({}, 200 if done else 409)


def _unknown(
    request: Request,  # noqa: ARG001 - required by starlette
    error: Exception,
) -> Response:
    """Return a response with status 404 for a run or a file that is not in the store."""
    return PlainTextResponse(f"{error}\n", 404)


def serve(viewer: Viewer, *, port: int, ready: Callable[[Callable[[], str]], None]) -> None:
    """Serve the viewer on 127.0.0.1 until SIGINT or SIGTERM.

    When the port is open, the function `ready` is called with the function `Guard.new_address`.
    Each call of the latter returns an address that works once.

    Raises:
        OSError: The port is in use.
    """
    with socket.create_server(("127.0.0.1", port)) as listener:
        guarded = Guard(viewer.app(), port=listener.getsockname()[1])
        config = uvicorn.Config(
            guarded,
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=1,
            lifespan="off",
            ws="none",
        )
        ready(guarded.new_address)
        server = uvicorn.Server(config)
        viewer.ending = lambda: server.should_exit
        server.run(sockets=[listener])
