"""OpenTelemetry spans of runs.

`atc.run.record` imports this module if OTEL_EXPORTER_OTLP_ENDPOINT is set. Names and attributes
follow the GenAI and MCP conventions as of November 2026
(github.com/open-telemetry/semantic-conventions-genai); attributes of atc itself begin with `atc.`.

Prompts, replies, programs, arguments, results and error messages are included only if
OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT is set, and never with a secret. All spans are
made at the end of a run: only then are all its secrets known, and the run is not slowed down.
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
from protocols.tool import Tool
from sandbox.trace import ToolCall

CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_WANTS_CONTENT = frozenset({"span_only", "span_and_event", "true"})
_LONGEST = 100_000
"""Maximum number of characters of a text in a span. Longer texts are cut."""
_LARGEST = 2**63 - 1
"""Largest number in a span, where numbers have 64 bits."""
_NO_SPAN: Span = trace.INVALID_SPAN
_PATIENCE = 1.5
"""Maximum number of seconds that sending spans may take, also at the end of the process."""

Attribute = str | int | float | bool | Sequence[str] | None


@cache
def provider() -> TracerProvider:
    """Return the tracer provider of the application, or else make one that sends spans.

    The OTEL_* environment variables configure the one that is made.
    """
    own = trace.get_tracer_provider()
    if isinstance(own, TracerProvider):
        return own
    resource = Resource.create({"service.name": "atc"}).merge(OTELResourceDetector().detect())
    exporting = TracerProvider(resource=resource)  # sends remaining spans when the process ends
    exporting.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(timeout=_PATIENCE)))
    return exporting


def close() -> None:
    """Send the remaining spans. Call it before the process ends without Python's usual clean-up.

    It takes at most `_PATIENCE` seconds.
    """
    if provider.cache_info().currsize:
        provider().shutdown()


class RunSpans:
    """An observer that records the events of one run, and makes spans of them when the run ends.

    Events may come from any thread. `run` is the id of the run, or None if it is not stored.
    """

    def __init__(self, task: str, run: str | None, tools: Mapping[str, Tool]) -> None:
        self._task = task
        self._conversation = run
        self._tools = tools
        self._content = os.environ.get(CONTENT, "").strip().lower() in _WANTS_CONTENT
        self._tracer = provider().get_tracer("atc", __version__)
        self._around = get_current()
        self._now = time.time_ns()
        """Time of the event that `end` is processing, in nanoseconds since 1970."""
        self._events: list[tuple[int, Event]] = []
        self._redact = Redactor()
        self._root = self._program = self._repair = _NO_SPAN
        self._asked: tuple[int, ModelAsked] | None = None
        """The model request that has no reply yet, and when it was sent; None if all have one."""
        self._fault: tuple[int, Fault] | None = None
        """Number and fault of the last attempt; None after the next program was written."""

    def __call__(self, event: Event) -> None:
        """Store an event of the run with its time. The method `end` makes spans from it."""
        self._events.append((time.time_ns(), event))

    def end(
        self, solution: Solution | None, redact: Redactor, error: BaseException | None = None
    ) -> None:
        """Make the spans of a run that has ended with a solution or with the exception `error`.

        `redact` replaces all secrets of the run by placeholders.
        """
        self._redact = redact
        ended = time.time_ns()
        about = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "atc",
            "gen_ai.agent.version": __version__,
        }
        self._root = self._begin("invoke_agent atc", _NO_SPAN, about)
        self._set_content(self._root, "gen_ai.input.messages", _messages([("user", self._task)]))
        for at, event in self._events:
            self._now = at
            self._record_event(event)
        self._now = ended
        failed = None
        if error is not None:
            kind = f"{type(error).__module__}.{type(error).__qualname__}"
            failed = kind.removeprefix("builtins.")
        if self._asked is not None:
            self._end_chat(None, failed=failed or "no_reply")
        self._end_span(self._program, failed=failed)
        self._end_span(self._repair, failed=failed)
        if solution is not None:
            self._set_solution(solution)
            failed = self._failure_of(solution) or failed
        self._end_span(self._root, failed=failed, why=None if error is None else str(error))

    def _set_solution(self, solution: Solution) -> None:
        """Add the answer, the counts and the token usage of a solution to the span of the run."""
        names = ("status", "repairs", "call_count")
        figures = {f"atc.{name}": getattr(solution, name) for name in names}
        self._root.set_attributes(_to_attributes(figures | _tokens(solution.usage)))
        answer = _messages([("assistant", solution.answer or "")])
        self._set_content(self._root, "gen_ai.output.messages", answer)

    def _failure_of(self, solution: Solution) -> str | None:
        """Return the kind of failure of a run, such as `limit`, or None if it did not fail."""
        if solution.status != "failed":
            return None
        if solution.limit:
            return "limit"
        return self._fault[1].kind if self._fault else "no_answer"

    def _record_event(self, event: Event) -> None:
        """Process one event of the run: begin or end the spans to which the event belongs."""
        match event:
            case ToolsChosen():
                numbers = {"atc.tools.found": len(event.tools), "atc.tools.total": event.total}
                self._root.set_attributes(numbers)
            case ModelAsked():
                self._asked = self._now, event
                self._begin_repair()
            case ModelReplied():
                self._end_chat(event.completion)
            case ProgramWritten():
                self._end_span(self._repair)
                self._end_span(self._program)
                self._repair = _NO_SPAN
                self._fault = None
                about = {
                    "atc.attempt": event.attempt + 1,
                    "atc.findings": len(event.findings),
                    "atc.mended": len(event.mended),
                }
                self._program = self._begin("program", self._root, about)
                self._set_content(self._program, "atc.program", event.program.source)
            case ToolCalled(complete=True):
                self._record_call(event.call)
            case AttemptEnded(result=attempt):
                fault = None if attempt.paused else attempt.fault
                failed, why = (fault.kind, fault.message) if fault else (None, None)
                self._end_span(self._program, failed=failed, why=why)
                self._program = _NO_SPAN
                self._fault = (event.attempt, fault) if fault else None

    def _begin_repair(self) -> None:
        """Begin the span of a repair if the model is now asked for the first time after a fault."""
        if self._fault is None or self._repair is not _NO_SPAN:
            return
        number, fault = self._fault
        about = {
            "atc.attempt": number + 1,
            "atc.fault.kind": fault.kind,
            "atc.fault.tool": fault.tool,
        }
        self._repair = self._begin("repair", self._root, about)
        self._set_content(self._repair, "atc.fault.message", fault.message)

    def _end_chat(self, reply: Completion | None, *, failed: str | None = None) -> None:
        """Make the span of the model request that was sent last, with its reply.

        `reply` is None if the request got no reply; `failed` is then the kind of the error.
        """
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
        name = f"chat {model}".strip()
        span = self._begin(name, self._repair, about, kind=SpanKind.CLIENT, at=began)
        prompt = _messages([(one.role, one.content) for one in asked.messages])
        self._set_content(span, "gen_ai.input.messages", prompt)
        if reply is not None:
            text = _messages([("assistant", reply.text)], finish_reason=reason)
            self._set_content(span, "gen_ai.output.messages", text)
        self._end_span(span, failed=failed)

    def _record_call(self, call: ToolCall) -> None:
        """Make the span of a completed tool call."""
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
            "atc.call.from_earlier_run": call.earlier is not None,
            "atc.call.line": call.line,
        }
        title = f"tools/call {name}" if mcp else f"execute_tool {name}"
        kind = SpanKind.CLIENT if mcp else SpanKind.INTERNAL
        began = self._now - int(call.seconds * 1e9)
        span = self._begin(title, self._program, about, kind=kind, at=began)
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
        """Begin a span as a child of `parent`; if that is `_NO_SPAN`, of the span of the run.

        The span of the run itself is a child of the application's current span. `about` are the
        span's attributes. `at` is its start in nanoseconds since 1970, by default the time of the
        event.
        """
        above = self._root if parent is _NO_SPAN else parent
        context = self._around if above is _NO_SPAN else trace.set_span_in_context(above)
        attributes = _to_attributes({"gen_ai.conversation.id": self._conversation, **about})
        start = self._now if at is None else at
        return self._tracer.start_span(
            escape_controls(name), context, kind, attributes, start_time=start
        )

    def _end_span(self, span: Span, *, failed: str | None = None, why: str | None = None) -> None:
        """End a span. If it failed, `failed` is the kind of the error and `why` the message."""
        if failed is not None:
            span.set_attribute("error.type", escape_controls(failed))
            message = self._clean(why or "") if self._content else None
            span.set_status(Status(StatusCode.ERROR, message))
        span.end(self._now)

    def _set_content(self, span: Span, name: str, value: Json) -> None:
        """Add a text, or a value as JSON, to a span if the user wants content to be included."""
        if not self._content:
            return
        text = value
        if not isinstance(value, str):
            text = json.dumps(value, ensure_ascii=False, default=repr)
        span.set_attribute(name, self._clean(text))

    def _clean(self, text: str) -> str:
        """Return a text, cut if it is too long, without secrets and control characters."""
        return escape_controls(self._redact(text)[:_LONGEST], keep_newlines=True)


def _to_attributes(
    about: Mapping[str, Attribute],
) -> dict[str, str | int | float | bool | Sequence[str]]:
    """Return values as valid span attributes.

    Numbers are limited to 64 bits, control characters in texts are escaped, and values that are
    None are left out.
    """
    attributes: dict[str, str | int | float | bool | Sequence[str]] = {}
    for name, value in about.items():
        if isinstance(value, str):
            attributes[name] = escape_controls(value)
        elif isinstance(value, int) and not isinstance(value, bool):
            attributes[name] = max(-_LARGEST, min(value, _LARGEST))
        elif value is not None:
            attributes[name] = value
    return attributes


def _messages(texts: Sequence[tuple[str, str]], **more: str) -> Json:
    """Return chat messages in the format of the GenAI conventions.

    Each of `texts` is a pair of role and text. `more` is added to each message.
    """
    return [
        {"role": role, "parts": [{"type": "text", "content": text}]} | more for role, text in texts
    ]


def _tokens(usage: Usage | Completion) -> dict[str, int]:
    """Return the numbers of input and output tokens as span attributes."""
    return {
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
    }


def _provider(model: str) -> str:
    """Return the provider of a model in the spelling of the GenAI conventions."""
    if model == "local" or model.endswith(".gguf"):
        return "llama_cpp"
    return model if model == "scripted" else "openai"
