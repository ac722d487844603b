"""OpenTelemetry spans of runs. Imported only if `OTEL_EXPORTER_OTLP_ENDPOINT` is set
(`atc.run.record`).

Names and attributes follow the GenAI and MCP conventions as of November 2026
(github.com/open-telemetry/semantic-conventions-genai); our own begin with `atc.`. Prompts, replies,
programs, arguments, results and messages are included only if
`OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT` asks for them, and never with a secret. All
spans are made at the end of a run. Then its secrets are known, and the run is not slowed down.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from functools import cache

from opentelemetry import trace
from opentelemetry.context import get_current
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, Status, StatusCode

from atc.core.events import (
    AttemptEnded,
    Event,
    ModelAsked,
    ModelReplied,
    ProgramWritten,
    ToolCalled,
    ToolsChosen,
)
from atc.core.text import escape_controls
from atc.core.types import Fault, Solution, Usage
from atc.core.version import __version__
from atc.safety.redaction import Redactor
from protocols.model import Completion
from protocols.protocol import McpBinding
from protocols.schema import Json
from protocols.toolbox import Tool
from sandbox.trace import ToolCall

CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_WANTS_CONTENT = frozenset({"span_only", "span_and_event", "true"})
_LONGEST = 100_000
"""Longest attribute, in characters."""
_LARGEST = 2**63 - 1
"""Largest number in a span, which has 64 bits."""
_NO_SPAN: Span = trace.INVALID_SPAN
_PATIENCE = 1.5
"""Seconds that a collector may take to answer, also at the end of the process."""

Attribute = str | int | float | bool | Sequence[str] | None


@cache
def provider() -> TracerProvider:
    """Return the application's tracer provider if it has set one up, else one that exports as the
    environment says.
    """
    own = trace.get_tracer_provider()
    if isinstance(own, TracerProvider):
        return own
    resource = Resource.create({"service.name": "atc"}).merge(OTELResourceDetector().detect())
    made = TracerProvider(resource=resource)  # what is left is sent as the process ends
    made.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(timeout=_PATIENCE)))
    return made


def close() -> None:
    """Send the remaining spans, for a process that may end without cleaning up. A silent collector
    gets little time.
    """
    if provider.cache_info().currsize:
        provider().shutdown()


class RunSpans:
    """An observer that makes the spans of one run when the run is over. Events may come from any
    thread.
    """

    def __init__(self, task: str, run: str | None, tools: Mapping[str, Tool]) -> None:
        self._task = task
        self._conversation = run
        self._tools = tools
        self._content = os.environ.get(CONTENT, "").strip().lower() in _WANTS_CONTENT
        self._tracer = provider().get_tracer("atc", __version__)
        self._around = get_current()
        self._now = time.time_ns()
        """When what is being told of happened, in nanoseconds since 1970."""
        self._events: list[tuple[int, Event]] = []
        self._redact = Redactor()
        self._root = self._program = self._repair = _NO_SPAN
        self._asked: tuple[int, ModelAsked] | None = None
        """The request that has no reply yet, and when it was sent."""
        self._fault: tuple[int, Fault] | None = None
        """Of the attempt before, where no new program has answered it."""

    def __call__(self, event: Event) -> None:
        """Take one event."""
        self._events.append((time.time_ns(), event))

    def end(
        self, solution: Solution | None, redact: Redactor, error: BaseException | None = None
    ) -> None:
        """Make the spans of a run that ended with a solution or an exception. `redact` knows all
        its secrets.
        """
        self._redact = redact
        over = time.time_ns()
        about = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "atc"}
        self._root = self._begin(
            "invoke_agent atc", _NO_SPAN, about | {"gen_ai.agent.version": __version__}
        )
        self._set_content(self._root, "gen_ai.input.messages", _messages([("user", self._task)]))
        for at, event in self._events:
            self._now = at
            self._record_event(event)
        self._now = over
        kind = f"{type(error).__module__}.{type(error).__qualname__}".removeprefix("builtins.")
        failed = None if error is None else kind
        if self._asked is not None:
            self._end_chat(None, failed=failed or "no_reply")
        self._end_span(self._program, failed=failed)
        self._end_span(self._repair, failed=failed)
        if solution is not None:
            came = {
                f"atc.{name}": getattr(solution, name)
                for name in ("status", "repairs", "call_count")
            }
            self._root.set_attributes(_to_attributes(came | _tokens(solution.usage)))
            self._set_content(
                self._root,
                "gen_ai.output.messages",
                _messages([("assistant", solution.answer or "")]),
            )
            if solution.status == "failed":
                failed = self._fault[1].kind if self._fault else "no_answer"
                if solution.limit:
                    failed = "limit"
        self._end_span(self._root, failed=failed, why=None if error is None else str(error))

    def _record_event(self, event: Event) -> None:
        match event:
            case ToolsChosen():
                self._root.set_attributes(
                    {"atc.tools.found": len(event.tools), "atc.tools.total": event.total}
                )
            case ModelAsked():
                self._asked = self._now, event
                if (
                    self._fault is not None and self._repair is _NO_SPAN
                ):  # the first request after a fault
                    number, fault = self._fault
                    about = {
                        "atc.attempt": number + 1,
                        "atc.fault.kind": fault.kind,
                        "atc.fault.tool": fault.tool,
                    }
                    self._repair = self._begin("repair", self._root, about)
                    self._set_content(self._repair, "atc.fault.message", fault.message)
            case ModelReplied():
                self._end_chat(event.completion)
            case ProgramWritten():
                self._end_span(self._repair)
                self._end_span(self._program)
                self._repair = _NO_SPAN
                self._fault = None
                counts = {"atc.findings": len(event.findings), "atc.mended": len(event.mended)}
                self._program = self._begin(
                    "program", self._root, {"atc.attempt": event.attempt + 1, **counts}
                )
                self._set_content(self._program, "atc.program", event.program.source)
            case ToolCalled(complete=True):
                self._record_call(event.call)
            case AttemptEnded(result=attempt):
                found = None if attempt.paused else attempt.fault
                failed, why = (found.kind, found.message) if found else (None, None)
                self._end_span(self._program, failed=failed, why=why)
                self._program = _NO_SPAN
                self._fault = (event.attempt, found) if found else None

    def _end_chat(self, reply: Completion | None, *, failed: str | None = None) -> None:
        """End the span of the last request, with its reply if there was one."""
        began, asked = self._asked or (self._now, ModelAsked("", ()))
        self._asked = None
        model = reply.model if reply else ""
        about: dict[str, Attribute] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": _provider(model),
            "gen_ai.request.model": model or None,
            "atc.purpose": asked.purpose,
        }
        if reply is not None:
            began = self._now - int(reply.seconds * 1e9)
            reason = "length" if reply.truncated else "stop"
            about |= {
                "gen_ai.response.model": model,
                "gen_ai.response.finish_reasons": [reason],
                **_tokens(reply),
            }
            about["gen_ai.usage.cache_read.input_tokens"] = reply.cached_tokens or None
        span = self._begin(
            f"chat {model}".strip(), self._repair, about, kind=SpanKind.CLIENT, at=began
        )
        self._set_content(
            span,
            "gen_ai.input.messages",
            _messages([(one.role, one.content) for one in asked.messages]),
        )
        if reply is not None:
            self._set_content(
                span,
                "gen_ai.output.messages",
                _messages([("assistant", reply.text)], finish_reason=reason),
            )
        self._end_span(span, failed=failed)

    def _record_call(self, call: ToolCall) -> None:
        tool = self._tools.get(call.tool)
        binding = tool.protocol.binding if tool is not None else None
        name = (mcp := binding.tool if isinstance(binding, McpBinding) else None) or call.tool
        about: dict[str, Attribute] = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": name,
            "gen_ai.tool.call.id": f"call_{call.index}",
            "gen_ai.tool.type": "function",
            "mcp.method.name": "tools/call" if mcp else None,
            "atc.call.outcome": call.outcome,
            "atc.call.from_journal": call.reused,
            "atc.call.line": call.line,
        }
        title, kind = (
            ("tools/call", SpanKind.CLIENT) if mcp else ("execute_tool", SpanKind.INTERNAL)
        )
        span = self._begin(
            f"{title} {name}",
            self._program,
            about,
            kind=kind,
            at=self._now - int(call.seconds * 1e9),
        )
        self._set_content(span, "gen_ai.tool.call.arguments", call.arguments)
        if call.error is None:
            self._set_content(span, "gen_ai.tool.call.result", call.result)
        failed = str(call.status or (call.outcome if call.outcome != "done" else "tool_error"))
        self._end_span(span, failed=None if call.error is None else failed, why=call.error)

    def _begin(
        self,
        name: str,
        parent: Span,
        about: Mapping[str, Attribute],
        *,
        kind: SpanKind = SpanKind.INTERNAL,
        at: int | None = None,
    ) -> Span:
        """Begin a span under `parent`, or else under the run's own span, which is a child of the
        application's.
        """
        above = self._root if parent is _NO_SPAN else parent
        context = self._around if above is _NO_SPAN else trace.set_span_in_context(above)
        known = {"gen_ai.conversation.id": self._conversation, **about}
        given = _to_attributes(known)
        start = self._now if at is None else at
        return self._tracer.start_span(
            escape_controls(name), context, kind, given, start_time=start
        )

    def _end_span(self, span: Span, *, failed: str | None = None, why: str | None = None) -> None:
        if failed is not None:
            span.set_attribute("error.type", escape_controls(failed))
            told = (
                escape_controls(self._redact(why or "")[:_LONGEST], keep_newlines=True)
                if self._content
                else None
            )
            span.set_status(Status(StatusCode.ERROR, told))
        span.end(self._now)

    def _set_content(self, span: Span, name: str, value: Json) -> None:
        """Add content to a span, if content is to be captured."""
        if self._content:
            text = (
                value
                if isinstance(value, str)
                else json.dumps(value, ensure_ascii=False, default=repr)
            )
            span.set_attribute(
                name, escape_controls(self._redact(text)[:_LONGEST], keep_newlines=True)
            )


def _to_attributes(
    about: Mapping[str, Attribute],
) -> dict[str, str | int | float | bool | Sequence[str]]:
    """Return the known values as span attributes: 64-bit numbers, and texts without control
    characters.
    """
    held: dict[str, str | int | float | bool | Sequence[str]] = {}
    for name, value in about.items():
        if isinstance(value, str):
            held[name] = escape_controls(value)
        elif isinstance(value, int) and not isinstance(value, bool):
            held[name] = max(-_LARGEST, min(value, _LARGEST))
        elif value is not None:
            held[name] = value
    return held


def _messages(said: Sequence[tuple[str, str]], **more: str) -> Json:
    return [
        {"role": role, "parts": [{"type": "text", "content": text}]} | more for role, text in said
    ]


def _tokens(spent: Usage | Completion) -> dict[str, int]:
    return {
        f"gen_ai.usage.{name}": getattr(spent, name) for name in ("input_tokens", "output_tokens")
    }


def _provider(model: str) -> str:
    if model == "local" or model.endswith(".gguf"):
        return "llama_cpp"
    return model if model == "scripted" else "openai"
