"""The gateway as an MCP server.

It offers tools and resources, reports progress, asks persons for consent with MCP elicitation, and
cancels requests. Gateway methods block, so each request runs in a thread of its own.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias, TypeVar

import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError

from atc.core.events import Event, ToolCalled
from atc.core.version import __version__
from atc.serve.asking import ClientConsent, Context, RequestState
from atc.serve.fair_queue import ClientQuota, FairQueue, QueuePlace
from atc.serve.gateway import Gateway
from atc.serve.replies import RunReply
from atc.serve.requests import BadRequest
from atc.serve.results import file_blocks, file_resource, make_result, run_result
from protocols.errors import AtcError
from protocols.export import RESULT, mcp_tool
from protocols.protocol import ToolProtocol
from protocols.schema import Json
from protocols.sources import load_tools
from sandbox.arguments import BadArguments, contract, shorten
from sandbox.limits import cancel_when

McpContext: TypeAlias = types.CallToolRequestParams
CallResult: TypeAlias = types.CallToolResult

T = TypeVar("T")
CLIENT = "atc.client"
"""Key in the ASGI scope of an HTTP request. Its value identifies the client by its token."""
_QUICK_REQUESTS = 8
"""Maximum number of requests, such as searches, that run no program and run at the same time."""
_QUICK_EACH = 4
"""Maximum number of requests of one client that run no program and run at the same time."""

_GAVE_WAY = (
    "The question to the person was withdrawn, since this client asked newer ones and may"
    " have {} open at a time."
    " Nothing was sent; when the run goes on, the person is asked again."
)

INSTRUCTIONS = (
    "Act on APIs by Python programs. Tools are functions with keyword arguments, plain or awaited;"
    " a failed call raises ToolError. Find them (search_tools), read stubs (describe_tools), then"
    " run one program for the whole job, which prints the answer. pages(tool) yields pages,"
    " with_headers(tool) headers too. After a fault send the corrected program with"
    " continues=run: completed calls are not repeated."
)


def gateway_server(gateway: Gateway) -> Server[Any]:
    """Return an MCP server that offers the operations of `gateway`, for stdio or HTTP."""
    service = _Service(gateway)
    server: Server[Any] = Server(
        "atc",
        version=__version__,
        instructions=INSTRUCTIONS,
        get_tool_input_schema={
            name: tool.protocol.input_schema for name, tool in service.tools.items()
        }.get,
        on_list_tools=service.list_tools,
        on_call_tool=service.call_tool,
        on_list_resources=service.list_resources,
        on_list_resource_templates=service.list_templates,
        on_read_resource=service.read_resource,
    )
    return seal_state(server, gateway)


def seal_state(server: Server[Any], gateway: Gateway) -> Server[Any]:
    """Make `server` encrypt the `RequestState` that clients send back, and return `server`.

    So clients cannot forge the state. The SDK's own middleware, which traces requests for
    OpenTelemetry, is removed, because nothing collects its traces here.
    """
    security = RequestStateSecurity(keys=[gateway.seal], bind_principal=client_of)
    server.middleware[:] = [RequestStateBoundary(security, default_audience="atc")]
    return server


class Requests:
    """Runs the requests to one server, each in a thread of its own.

    Two fair queues, for programs and for quick requests, decide which request runs next.
    """

    def __init__(self, gateway: Gateway) -> None:
        limits = gateway.limits
        self._waits = gateway.waits
        self._most_questions = limits.questions_each
        self._programs = FairQueue(
            limits.programs,
            each=limits.programs_each,
            waiting=limits.waiting_each,
            parked=limits.questions,
            parked_each=limits.questions_each,
        )
        self._quick = FairQueue(_QUICK_REQUESTS, each=_QUICK_EACH, waiting=limits.waiting_each)
        self._questions: ClientQuota[ClientConsent] = ClientQuota(
            lambda consent: consent.give_way(), each=limits.questions_each, most=limits.questions
        )
        threads = limits.programs + limits.questions + _QUICK_REQUESTS
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="request")

    async def answer(self, ctx: Context, work: Callable[[], T]) -> T:
        """Wait in the queue of quick requests, then run `work` in a thread and return its result.

        `work` carries out a request that runs no program, such as a search.
        """
        place = await self._quick.take(client_of(ctx))
        return await self._in_thread(place, work)

    async def _in_thread(self, place: QueuePlace, work: Callable[[], T]) -> T:
        """Run `work` in a thread and return its result.

        `place` counts the request in its queue. It is closed when the thread ends, and not before,
        even if the request is cancelled. So a thread that still runs counts towards the limits.
        """
        done = asyncio.get_running_loop().run_in_executor(self._threads, work)
        done.add_done_callback(lambda _: place.close())
        done.add_done_callback(
            lambda ended: ended.cancelled() or ended.exception()
        )  # else asyncio prints it
        return await asyncio.shield(done)

    async def run(
        self,
        ctx: Context,
        params: McpContext,
        run: Callable[..., RunReply],
        to_result: Callable[[RunReply], CallResult],
    ) -> CallResult | types.InputRequiredResult:
        """Wait in the queue of programs, then call `run`, a method of the gateway, in a thread.

        Return its reply, formatted by `to_result`, or a question that the client must answer with a
        second request. The client gets progress notifications if it asks for them. If it cancels
        the request, the program is stopped.
        """
        consent = ClientConsent(ctx, params)
        how = {
            "client": client_of(ctx),
            "ask_person": consent.ask,
            "answered": tuple(consent.answers),
        }
        progress = (
            _Progress(ctx) if ctx.meta and ctx.meta.get("progress_token") is not None else None
        )
        client = client_of(ctx)
        stop = threading.Event()

        def work() -> RunReply:
            with cancel_when(stop):
                return run(observer=progress, **how)

        place = await self._programs.take(client)
        consent.meanwhile = partial(self._waiting_for_person, client, place, consent)
        try:
            reply = await self._in_thread(place, work)
        except asyncio.CancelledError:
            stop.set()
            consent.leave()
            raise
        if consent.gave_way and reply["status"] == "paused":
            reply = {**reply, "question": _GAVE_WAY.format(self._most_questions)}
        if consent.later and consent.open is not None and reply["status"] == "paused":
            return consent.build_question_reply(str(reply["run"]))
        if reply["status"] in ("paused", "declined"):
            self._waits(str(reply["run"]).rpartition(".")[0])
        return to_result(reply)

    @contextmanager
    def _waiting_for_person(
        self, client: str, place: QueuePlace, consent: ClientConsent
    ) -> Iterator[None]:
        """Within the block, in which a person is asked, let another program run instead.

        The client's open question is counted, but its program does not count as running.
        """
        with place.vacate():
            self._questions.use(client, consent)
            try:
                yield
            finally:
                self._questions.drop(consent)


class _Service:
    """The handlers of MCP requests for a server that offers the operations of a gateway."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._requests = Requests(gateway)
        self.tools = load_tools(
            gateway.search_tools,
            gateway.describe_tools,
            gateway.run_program,
            gateway.check_program,
            gateway.resume_run,
        )

    async def list_tools(
        self, ctx: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        """List the gateway's operations; the text of `run_program` describes the API tools, too."""
        tools = [
            _describe_tool(replace(tool.protocol, output_schema=None))
            for tool in self.tools.values()
        ]
        running = next(tool for tool in tools if tool.name == "run_program")
        overview = await self._requests.answer(ctx, partial(self._gateway.overview, client_of(ctx)))
        running.description = f"{running.description}\n\n{overview}"
        return types.ListToolsResult(tools=tools)

    async def call_tool(
        self, ctx: Context, params: McpContext
    ) -> CallResult | types.InputRequiredResult:
        """Carry out one operation of the gateway.

        An error is returned as a result that the caller's model reads.
        """
        try:
            if (tool := self.tools.get(params.name)) is None:
                name = shorten(params.name, 100)
                known = ", ".join(self.tools)
                raise BadRequest(
                    f"no tool {name!r}; there are {known}. API functions are called by run_program."
                )
            given = contract(tool.protocol).accept(params.arguments or {})
            if not tool.protocol.writes:
                read = partial(getattr(self._gateway, params.name), **given, client=client_of(ctx))
                return make_result(await self._requests.answer(ctx, read))
            if params.request_state is not None:  # continue the same run with the answer
                given["continues" if "source" in given else "run"] = RequestState.of(params).run
            work = partial(getattr(self._gateway, params.name), **given)
            return await self._requests.run(ctx, params, work, partial(run_result, self._gateway))
        except (AtcError, BadArguments) as error:
            return make_result({"error": str(error)}, failed=True)

    async def list_resources(
        self, _ctx: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """Return an empty list, because resources are found by the templates of their addresses."""
        return types.ListResourcesResult(resources=[])

    async def list_templates(
        self, _ctx: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """List the templates of resource addresses: one for runs, one for protocols of tools."""
        about = {
            "run": "A run by its handle: programs, calls, faults.",
            "protocol": "A tool's protocol.",
        }
        places = {"run": "atc://runs/{run}", "protocol": "atc://protocols/{tool}"}
        templates = [
            types.ResourceTemplate(
                name=name, uri_template=place, mime_type="application/json", description=about[name]
            )
            for name, place in places.items()
        ]
        return types.ListResourceTemplatesResult(resource_templates=templates)

    async def read_resource(
        self, ctx: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """Return a run, or the protocol of a tool, as JSON."""
        kind, _, name = str(params.uri).removeprefix("atc://").partition("/")
        try:
            run, _, digest = name.partition("/files/")
            if kind == "runs" and digest:
                file = partial(self._gateway.open_file, run, digest)
                opened = file_resource(await self._requests.answer(ctx, file), str(params.uri))
                return types.ReadResourceResult(contents=[opened])
            if kind == "runs":
                found: Json = await self._requests.answer(
                    ctx, partial(self._gateway.describe_run, name)
                )
            elif kind == "protocols":
                found = await self._requests.answer(
                    ctx, partial(self._gateway.protocol, name, client_of(ctx))
                )
            else:
                raise BadRequest(
                    f"no resource {shorten(str(params.uri), 100)!r}; there are"
                    " atc://runs/RUN and atc://protocols/TOOL."
                )
        except AtcError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from error
        text = json.dumps(found, ensure_ascii=False)
        content = types.TextResourceContents(
            uri=str(params.uri), mime_type="application/json", text=text
        )
        return types.ReadResourceResult(contents=[content])


class _Progress:
    """An observer of a run that sends the number of completed calls to the client.

    A new notification is sent only when the client has read the last one. The program does not wait
    for this.
    """

    def __init__(self, ctx: Context) -> None:
        self._session = ctx.session
        self._loop = asyncio.get_running_loop()
        self._count = 0
        self._telling: Future[None] | None = None

    def __call__(self, event: Event) -> None:
        """Send a notification if the event is a completed call. Called in the program's thread."""
        if not isinstance(event, ToolCalled) or not event.complete:
            return
        self._count += 1
        if self._telling is None or self._telling.done():
            text = f"{event.call.tool}: {event.call.outcome}"
            response_result = self._session.report_progress(float(self._count), None, text)
            self._telling = asyncio.run_coroutine_threadsafe(response_result, self._loop)


def client_of(ctx: Context) -> str:
    """Return the name of the client that sent a request: a digest of its token, or "" over stdio.

    The MCP session does not identify a client, because a client may open many sessions.
    """
    return "" if ctx.request is None else str(ctx.request.scope.get(CLIENT, ""))


def _describe_tool(protocol: ToolProtocol) -> types.Tool:
    return types.Tool.model_validate(mcp_tool(protocol))


# --- the API tools themselves


def tools_server(gateway: Gateway) -> Server[Any]:
    """Return an MCP server that offers each API tool of `gateway` as an MCP tool.

    `atc serve --as tools` uses it. The tools are named by their aliases.
    """
    requests = Requests(gateway)

    def listed(client: str) -> list[types.Tool]:
        return [
            _describe_tool(replace(tool.protocol, name=tool.alias))
            for tool in gateway.tools(client).values()
        ]

    async def list_tools(
        ctx: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=await requests.answer(ctx, partial(listed, client_of(ctx)))
        )

    async def call_tool(ctx: Context, params: McpContext) -> CallResult | types.InputRequiredResult:
        """Call one API tool. Its error is returned as a result that the caller's model reads."""
        call = partial(
            gateway.call, params.name, params.arguments or {}, RequestState.of(params).run
        )
        try:
            return await requests.run(
                ctx, params, call, partial(to_result, client_of(ctx), params.name)
            )
        except AtcError as error:
            return make_result({"error": str(error)}, failed=True)

    def to_result(client: str, name: str, reply: RunReply) -> CallResult:
        """Return the response as text, and as structured content that fits the output schema."""
        if "result" not in reply:
            return make_result(reply, failed=True)
        response = reply["result"]
        offered = gateway.tools(client).find(name).protocol.output_schema or {"type": "object"}
        structured = (
            response
            if isinstance(response, dict) and offered.get("type") == "object"
            else {RESULT: response}
        )
        blocks = [*make_result(response).content, *file_blocks(gateway, reply)]
        return CallResult(content=blocks, structured_content=structured)

    return seal_state(
        Server("atc", version=__version__, on_list_tools=list_tools, on_call_tool=call_tool),
        gateway,
    )
