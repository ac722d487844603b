"""Instances (§4.1 of the ATC paper): a question, a program that answers it by a tool, and what the tool then gave."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass, replace
from functools import partial
from queue import SimpleQueue
from typing import Any, NamedTuple, TypeVar

from probing.facts import says_something
from probing.gate.caller import Caller, NotCalled
from probing.log import Log
from probing.sample import Sample, Value
from probing.teacher.provenance import Provenance
from probing.teacher.words import plain_line
from protocols.errors import AtcError, ToolError
from protocols.jsontypes import Json, JsonObject
from protocols.protocol import Annotations
from protocols.toolbox import Tool, Toolbox
from sandbox import workers
from sandbox.base import Sandbox
from sandbox.fenced import program_in
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.trace import Trace

LIMITS = Limits(wall_seconds=120.0, cpu_seconds=10.0, output_bytes=64 * 1024, tool_calls=20)
"""Of one proposed program: it is to make a few calls, most of them answered at once."""

_T = TypeVar("_T")
_QUESTION = re.compile(r"^[^\w\n]*question\b\W*(.+)$", re.IGNORECASE | re.MULTILINE)
_MOST_QUESTION, _MOST_ERROR = 200, 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """One attempt to use a tool.

    `samples` are the numbers of the calls that its program made, in their order. It `worked` where the program ran to
    its end and the tool gave it a response that is not empty; else `error` says why not.
    """

    tool: str
    round: int
    question: str
    program: str
    samples: tuple[int, ...] = ()
    worked: bool = False
    error: str = ""


class Proposed(NamedTuple):
    """What a reply proposes; `program` is None where it holds none."""

    question: str
    program: str | None


def read_reply(reply: str) -> Proposed:
    """The question and the program in a model's reply; the question is empty where there is none."""
    said = _QUESTION.search(reply)
    first = reply.partition("```")[0].strip().partition("\n")[0]
    return Proposed(plain_line(said[1] if said else first, most=_MOST_QUESTION), program_in(reply))


def to_note(instance: Instance) -> dict[str, Any]:
    """The instance as JSON. `from_note(to_note(i)) == i`, also after a trip through JSON text."""
    return asdict(instance)


def from_note(note: Mapping[str, Any]) -> Instance:
    """The inverse of `to_note`."""
    return Instance(**{**note, "samples": tuple(note["samples"])})


def run_instance(
    proposed: Proposed,
    tool: str,
    tools: Toolbox,
    *,
    shown: Sequence[Sample],
    sandbox: Sandbox,
    caller: Caller,
    round: int,  # noqa: A002
) -> Instance:
    """Run a proposed program over `tools`, each call through the Caller, and see whether `tool` gave a response.

    `shown` are the samples of these tools so far.

    Raises:
        SandboxUnavailable: nothing was learned about the program.
    """
    attempt = Instance(tool=tool, round=round, question=proposed.question, program=proposed.program or "")
    if proposed.program is None:
        return replace(attempt, error="the reply holds no program in a ```python block")
    protocols = {known.protocol.name: known.protocol for known in tools.values()}
    gate = _Gate(caller, Provenance(proposed.program, protocols, shown), round)
    trace = gate.hold(
        lambda bound: sandbox.run(attempt.program, bound, limits=LIMITS, journal=Journal()),
        tools,
    )
    alias = next(known.alias for known in tools.values() if known.protocol.name == tool)
    error = _problem(trace, alias, [sample for sample in gate.samples if sample.tool == tool and sample.done])
    numbers = tuple(sample.number for sample in gate.samples)
    return replace(attempt, samples=numbers, worked=not error, error=error)


class _Gate:
    """The calls of one program, made one after the other on the thread that waits for it, by the Caller's leave.

    A sandbox calls tools on threads of its own; a call made there could neither be stopped when it hangs nor be
    recorded before Ctrl-C takes effect. When the run is over no call is made any more.
    """

    def __init__(self, caller: Caller, provenance: Provenance, round: int) -> None:  # noqa: A002
        self.samples: list[Sample] = []
        self._caller, self._provenance, self._round = caller, provenance, round
        self._asked: SimpleQueue[_Asked | None] = SimpleQueue()
        self._lock, self._closed = threading.Lock(), False

    def hold(self, run: Callable[[Toolbox], Trace], tools: Toolbox) -> Trace:
        """Run it over `tools`, called through this gate, and give what it returns or raise what it raises."""
        bound = tools.map(lambda tool: replace(tool, call=partial(self._ask, tool.protocol.name)))
        ended: Future[Trace] = Future()
        workers.start(partial(self._run, run, bound, ended))
        try:
            while (asked := self._asked.get()) is not None:
                self._answer(asked)
        finally:
            self._close()
        return ended.result()

    def _run(self, run: Callable[[Toolbox], Trace], tools: Toolbox, ended: Future[Trace]) -> None:
        _settle(ended, lambda: run(tools))
        self._asked.put(None)

    def _ask(self, tool: str, arguments: JsonObject) -> Json:
        asked = _Asked(tool, arguments, Future())
        with self._lock:
            if self._closed:
                raise _over()
            self._asked.put(asked)
        return asked.response.result()

    def _close(self) -> None:
        with self._lock:
            self._closed = True
        while not self._asked.empty():
            if (asked := self._asked.get()) is not None:
                asked.response.set_exception(_over())

    def _answer(self, asked: _Asked) -> None:
        _settle(asked.response, lambda: self._call(asked.tool, asked.arguments))
        if not isinstance(asked.response.exception(), ToolError | AtcError | None):
            asked.response.result()  # raises it here too: a mistake of ours, or Ctrl-C

    def _call(self, tool: str, arguments: JsonObject) -> Json:
        origins = {name: self._provenance.origin(tool, name, value, self.samples) for name, value in arguments.items()}
        values = {name: Value(value, origins[name]) for name, value in arguments.items()}
        try:
            sample = self._caller.call(tool, values, purpose="model", round=self._round)
        except NotCalled as why:
            raise ToolError(None, str(why), outcome="not_run") from why
        self.samples.append(sample)
        if sample.done:
            return sample.response
        raise ToolError(sample.status, sample.error, outcome=sample.outcome, answer=sample.answer)


class _Asked(NamedTuple):
    """A call that a program asks for."""

    tool: str
    arguments: JsonObject
    response: Future[Json]


def _settle(future: Future[_T], work: Callable[[], _T]) -> None:
    """Do the work, and put into `future` whatever comes of it."""
    try:
        future.set_result(work())
    except BaseException as error:  # noqa: BLE001 - whoever waits for it raises it
        future.set_exception(error)


def _over() -> ToolError:
    return ToolError(None, "the run is over", outcome="not_run")


def _problem(trace: Trace, tool: str, answers: Sequence[Sample]) -> str:
    """Why a program did not work, in a sentence; empty where it did.

    `tool` is the alias of the one that was to be tried, `answers` are its responses.
    """
    failure = trace.failure
    if failure is not None:
        place = f" in line {failure.line}" if failure.line else ""
        return plain_line(f"it failed{place}: {failure.type}: {failure.message}", most=_MOST_ERROR)
    if any(sample.response is None or says_something(sample.response) for sample in answers):
        return ""
    if answers:
        return f"{tool} found nothing; ask for something that exists"
    refused = next((call for call in reversed(trace.calls) if call.tool == tool and call.error), None)
    if refused is not None:
        return plain_line(f"{tool} refused the call: {refused.error}", most=_MOST_ERROR)
    return f"it did not call {tool}"


def holds(instance: Instance, tools: Toolbox, log: Log, sandbox: Sandbox) -> bool:
    """Whether an instance's program runs to its end over `tools`, each call answered from the log.

    Raises:
        SandboxUnavailable: nothing was learned about the program.
    """

    def recorded(tool: str, arguments: JsonObject) -> Json:
        sample = log.find(tool, arguments)
        if sample is None:
            raise ToolError(None, "this call was not made", outcome="not_run")
        if not sample.done:
            raise ToolError(sample.status, sample.error, outcome=sample.outcome)
        return sample.response

    def answered(tool: Tool) -> Tool:
        quiet = replace(tool.protocol, annotations=Annotations(read_only=True), verified_by=None)
        return replace(tool, protocol=quiet, call=partial(recorded, quiet.name), admit=None)

    return sandbox.run(instance.program, tools.map(answered), limits=LIMITS, journal=Journal()).failure is None
