"""Spans of runs for OpenTelemetry. Imported only where `OTEL_EXPORTER_OTLP_ENDPOINT` is set (`atc.run_record.traced`).

Names and attributes are those of the GenAI and MCP conventions as of November 2026
(github.com/open-telemetry/semantic-conventions-genai); what they have no name for begins with `atc.`. Prompts, replies,
programs, arguments, results and messages go out only where `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT` asks
for them in spans, and never with a secret: such spans wait for the end of the run, when all its secrets are known.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Mapping, Sequence
from functools import cache

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, Status, StatusCode

from atc import __version__
from atc.events import AttemptEnded, CallEnded, Event, ModelAsked, ModelReplied, ProgramWritten, ToolsChosen
from atc.redaction import Redactor
from atc.types import Attempt, Fault, Solution
from protocols.jsontypes import Json
from protocols.protocol import McpBinding
from protocols.toolbox import Tool
from sandbox.trace import ToolCall

CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_WANTS_CONTENT = frozenset({"span_only", "span_and_event", "true"})
_LONGEST = 100_000
"""Characters of one attribute."""
_WHY = "why"
"""What an error says; a span has it as the description of its status."""

Attributes = Mapping[str, str | int | float | bool | Sequence[str] | None]


@cache
def provider() -> TracerProvider:
    """The application's, where it has set up OpenTelemetry itself; else one that exports as the environment says."""
    own = trace.get_tracer_provider()
    if isinstance(own, TracerProvider):
        return own
    named = "OTEL_SERVICE_NAME" in os.environ or "service.name=" in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    made = TracerProvider(resource=Resource.create({} if named else {"service.name": "atc"}))
    made.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))  # a thread sends, and what is left goes at exit
    return made


class RunSpans:
    """An observer that makes one run's spans. Takes events as they are, from any thread.

    A model request and a call are told when they are over: their spans begin as long before as they took.
    """

    def __init__(self, task: str, run: str | None, tools: Mapping[str, Tool]) -> None:
        self._tools, self._content = tools, os.environ.get(CONTENT, "").strip().lower() in _WANTS_CONTENT
        self._conversation = run
        self._lock, self._tracer = threading.Lock(), provider().get_tracer("atc", __version__)
        self._told: list[tuple[Span, str, str]] = []
        self._over: list[tuple[Span, int]] = []
        """Where content is wanted: what spans are to say when it is without secrets; those that are over, and when."""
        about = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "atc"}
        self._root: Span = trace.INVALID_SPAN
        self._root = self._begin("invoke_agent atc", None, about | {"gen_ai.agent.version": __version__})
        self._say(self._root, "gen_ai.input.messages", _messages([("user", task)]))
        self._program: Span | None = None
        self._repair: Span | None = None
        self._asked: tuple[int, ModelAsked] | None = None
        self._fault: tuple[int, Fault] | None = None
        """Of the attempt before, where no new program has answered it."""

    def __call__(self, event: Event) -> None:
        """Take one event."""
        with self._lock:
            match event:
                case ToolsChosen():
                    self._set(self._root, {"atc.tools.found": len(event.tools), "atc.tools.total": event.total})
                case ModelAsked():
                    self._asked = time.time_ns(), event
                    self._open_repair()
                case ModelReplied():
                    self._replied(event)
                case ProgramWritten():
                    self._written(event)
                case CallEnded():
                    self._called(event.call)
                case AttemptEnded():
                    self._attempted(event.attempt, event.result)

    def end(self, solution: Solution | None, redact: Redactor, error: BaseException | None = None) -> None:
        """The run is over, with its solution or the exception that ended it."""
        with self._lock:
            failed = None if error is None else _kind(error)
            if self._asked is not None:  # no reply came
                self._ended(self._chat(self._asked[1], "", self._asked[0]), failed=failed or "no_reply")
            for span in (self._program, self._repair):
                if span is not None:
                    self._ended(span, failed=failed)
            if solution is not None:
                usage, last = solution.usage, solution.attempts[-1].fault if solution.attempts else None
                tokens = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
                self._set(self._root, {f"gen_ai.usage.{name}": number for name, number in tokens.items()})
                made = {"status": solution.status, "repairs": solution.repairs, "calls": solution.calls}
                self._set(self._root, {f"atc.{name}": value for name, value in made.items()})
                self._say(self._root, "gen_ai.output.messages", _messages([("assistant", solution.answer or "")]))
                if solution.status == "failed":
                    failed = "limit" if solution.limit else last.kind if last is not None else "no_answer"
            self._ended(self._root, failed=failed, why=None if error is None else str(error))
            for span, name, text in self._told:
                if name == _WHY:
                    span.set_status(Status(StatusCode.ERROR, redact(text)[:_LONGEST]))
                else:
                    span.set_attribute(name, redact(text)[:_LONGEST])
            for span, at in self._over:
                span.end(at)

    def _replied(self, event: ModelReplied) -> None:
        reply, asked = event.completion, self._asked
        began = time.time_ns() - int(reply.seconds * 1e9)
        self._asked = None
        span = self._chat(asked[1] if asked is not None else ModelAsked(event.purpose, ()), reply.model, began)
        reason = "length" if reply.truncated else "stop"
        self._set(
            span,
            {
                "gen_ai.response.model": reply.model,
                "gen_ai.response.finish_reasons": [reason],
                "gen_ai.usage.input_tokens": reply.input_tokens,
                "gen_ai.usage.output_tokens": reply.output_tokens,
                "gen_ai.usage.cache_read.input_tokens": reply.cached_tokens or None,
            },
        )
        self._say(span, "gen_ai.output.messages", _messages([("assistant", reply.text)], finish_reason=reason))
        self._ended(span)

    def _chat(self, asked: ModelAsked, model: str, began: int) -> Span:
        about = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": _provider(model),
            "gen_ai.request.model": model or None,
            "atc.purpose": asked.purpose,
        }
        span = self._begin(f"chat {model}".strip(), self._repair, about, kind=SpanKind.CLIENT, at=began)
        self._say(span, "gen_ai.input.messages", _messages([(one.role, one.content) for one in asked.messages]))
        return span

    def _open_repair(self) -> None:
        """The first request after a fault begins its repair."""
        if self._fault is None or self._repair is not None:
            return
        number, fault = self._fault
        about = {"atc.attempt": number + 1, "atc.fault.kind": fault.kind, "atc.fault.tool": fault.tool}
        self._repair = self._begin("repair", None, about)
        self._say(self._repair, "atc.fault.message", fault.message)

    def _written(self, event: ProgramWritten) -> None:
        if self._repair is not None:
            self._ended(self._repair)
        self._repair = self._fault = None
        if self._program is not None:
            self._ended(self._program)
        about = {"atc.attempt": event.attempt + 1, "atc.findings": len(event.findings)}
        self._program = self._begin("program", None, about | {"atc.mended": len(event.mended)})
        self._say(self._program, "atc.program", event.program.source)

    def _attempted(self, number: int, attempt: Attempt) -> None:
        fault = None if attempt.paused else attempt.fault
        if self._program is not None:
            why = (fault.kind, fault.message) if fault is not None else (None, None)
            self._ended(self._program, failed=why[0], why=why[1])
        self._program = None
        self._fault = (number, fault) if fault is not None else None

    def _called(self, call: ToolCall) -> None:
        tool = self._tools.get(call.tool)
        binding = tool.protocol.binding if tool is not None else None
        over_mcp = isinstance(binding, McpBinding)
        name = binding.tool if isinstance(binding, McpBinding) else call.tool
        about: Attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": name,
            "gen_ai.tool.call.id": f"call_{call.index}",
            "gen_ai.tool.type": "function",
            "mcp.method.name": "tools/call" if over_mcp else None,
            "atc.call.outcome": call.outcome,
            "atc.call.from_journal": call.reused,
            "atc.call.line": call.line,
        }
        title, kind = ("tools/call", SpanKind.CLIENT) if over_mcp else ("execute_tool", SpanKind.INTERNAL)
        at = time.time_ns() - int(call.seconds * 1e9)
        span = self._begin(f"{title} {name}", self._program, about, kind=kind, at=at)
        self._say(span, "gen_ai.tool.call.arguments", call.arguments)
        failed = None
        if call.error is None:
            self._say(span, "gen_ai.tool.call.result", call.result)
        else:
            failed = str(call.status or (call.outcome if call.outcome != "done" else "tool_error"))
        self._ended(span, failed=failed, why=call.error)

    def _begin(
        self, name: str, parent: Span | None, about: Attributes, *, kind: SpanKind = SpanKind.INTERNAL,
        at: int | None = None,
    ) -> Span:  # fmt: skip
        """A span under `parent`, else under the run's own, which stands where the application is."""
        above = parent or self._root
        context = trace.set_span_in_context(above) if above is not trace.INVALID_SPAN else None
        span = self._tracer.start_span(name, context, kind, start_time=at)
        self._set(span, {"gen_ai.conversation.id": self._conversation, **about})
        return span

    def _set(self, span: Span, about: Attributes) -> None:
        span.set_attributes({name: value for name, value in about.items() if value is not None})

    def _ended(self, span: Span, *, failed: str | None = None, why: str | None = None) -> None:
        if failed is not None:
            span.set_attribute("error.type", failed)
            span.set_status(Status(StatusCode.ERROR))
            self._say(span, _WHY, why or "")
        if self._content:
            self._over.append((span, time.time_ns()))
        else:
            span.end()

    def _say(self, span: Span, name: str, value: Json) -> None:
        """Content, where it is wanted."""
        if self._content:
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=repr)
            self._told.append((span, name, text))


def _messages(said: Sequence[tuple[str, str]], **more: str) -> Json:
    return [{"role": role, "parts": [{"type": "text", "content": text}]} | more for role, text in said]


def _kind(error: BaseException) -> str:
    return f"{type(error).__module__}.{type(error).__qualname__}".removeprefix("builtins.")


def _provider(model: str) -> str:
    if model == "local" or model.endswith(".gguf"):
        return "llama_cpp"
    return model if model == "scripted" else "openai"
