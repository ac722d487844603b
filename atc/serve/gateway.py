"""What the gateway does, without MCP: search and describe tools, check and run programs, go on with a paused one.

The client's model writes the programs. `atc` checks each against the response schemas before any call, runs it in the
sandbox, answers calls that the same run has completed from the journal, and blames a failure on one call.
"""

from __future__ import annotations

import hmac
import threading
from collections import Counter, OrderedDict
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import sha256
from typing import Any, TypeAlias, Unpack

from atc.agent import Agent, GoingOn
from atc.findings import invocation
from atc.recording import redactor
from atc.redaction import Redactor
from atc.retrieve.base import Retriever
from atc.serve.results import Results
from atc.strategies.given import certain_findings
from atc.types import Attempt, Fault, Finding, Program, Solution, answered
from protocols.errors import AtcError, UnknownTool
from protocols.protocol import ProgramBinding
from protocols.render import described_within, one_line, stubs, token_estimate
from protocols.schema import Json, JsonObject, shape
from protocols.sources import load_tools
from protocols.toolbox import Tool, Toolbox
from sandbox.base import Paused
from sandbox.trace import ToolCall
from sandbox.zygote.channel import VALUE_CHARACTERS

DESCRIBED_TOKENS = 2_000
"""Toolboxes whose stubs fit so many tokens are described when a client connects, without a search."""
_SEARCHED = 8
"""Tools that a search names unless it is asked for more."""
_MOST_SEARCHED = 40
_INDEX_SECONDS = 5.0
"""How long the first search waits for the index."""
_DESCRIBED_AT_ONCE = 12_000
"""Tokens of one reply of `describe`."""
_CALLS_SHOWN = 30
_CUT = (
    f"The value has over {VALUE_CHARACTERS:,} characters and only the beginning of its text is here: print it, or"
    " a part of it."
)
_WRITERS_KEPT = 10_000
"""Runs of which it is known which client's they are, the latest ones."""
_LONGEST_SOURCE = 100_000
"""Characters of a program."""


Reply: TypeAlias = dict[str, Json]


class BadRequest(AtcError):
    """A request that cannot be carried out as it stands. The sentence says what to change."""


@dataclass(frozen=True, kw_only=True)
class GatewayLimits:
    """What one client may use of a gateway that others use, too."""

    run_seconds: float = 120.0
    """Wall time of one program, waits on tools included."""
    programs: int = 16
    """Programs that run at the same time, of all clients together; others wait for their turn."""
    programs_each: int = 10
    """Of one client; so there is room left beside one that floods."""
    waiting_each: int = 100
    """Requests of one client that wait for their turn; one more is refused."""


class Sent(GoingOn, total=False):
    """How the run of a client's program goes."""

    client: str
    """Whose program it is."""


class Gateway:
    """Programs of other agents over one toolbox. Its methods may be called from several threads at once.

    Five of them are what clients are offered: their signatures and docstrings are what a client's model reads.
    Each reply is a JSON object. Runs are named by handles, which cannot be guessed: a client can continue its own runs
    and no other's, also after it has connected anew, and at another gateway over the same store, which has the same
    `key`. `agent` must have a store.
    """

    def __init__(self, agent: Agent, *, key: bytes | None = None, limits: GatewayLimits | None = None) -> None:
        self._agent = agent
        self._key = key or agent.store.key()
        self.limits = limits or GatewayLimits()
        self._results = Results()
        self._own = load_tools(self._results.read_result)
        agent.toolbox = agent.toolbox.also(self._own.values())
        self._writers: OrderedDict[str, str] = OrderedDict()  # the client of each run that was about to write
        self._search_lock = threading.Lock()
        self._search: Retriever | None = None

    @property
    def seal(self) -> bytes:
        """What seals the state that a client keeps between two requests; one gateway opens what another has sealed."""
        return hmac.digest(self._key, b"request state", "sha256")

    @property
    def tools(self) -> Toolbox:
        """The tools that programs may call, but for `read_result`."""
        return self._agent.toolbox.only([name for name in self._agent.toolbox if name not in self._own])

    def overview(self) -> str:
        """Stubs of all tools where they fit `DESCRIBED_TOKENS`; else how many there are, and of which sources."""
        tools = self.tools
        if len(tools) * 10 <= DESCRIBED_TOKENS and token_estimate(text := stubs(tools)) <= DESCRIBED_TOKENS:
            return text
        counts = Counter(tool.source for tool in tools.values())
        sources = ", ".join(f"{name or 'tools'} ({count})" for name, count in counts.most_common(8))
        more = f" and {len(counts) - 8} more sources" if len(counts) > 8 else ""
        return f"{len(tools)} tools: {sources}{more}. Search, then describe, then run."

    def search_tools(self, query: str, limit: int = _SEARCHED) -> Reply:
        """Find API functions by what they do or by name.

        Best first, with those that yield the ids they need; a line each.

        read_only = True
        """
        if not query.strip():
            raise BadRequest("the query is empty; say what the tool should do, or give a tool's name.")
        limit = min(max(limit, 1), _MOST_SEARCHED)
        with self._search_lock:
            found = self._finder().search(query, k=limit)
        lines = [one_line(self._agent.toolbox[hit.tool]) for hit in found.hits]
        return {"tools": lines, "of": len(self.tools)}

    def _finder(self) -> Retriever:
        """The configured search, once it is built; search by words while that takes its time."""
        if self._search is None:
            self._search = self._agent.word_finder()
            building = threading.Thread(target=self._build, daemon=True)
            building.start()
            building.join(_INDEX_SECONDS)
        return self._search

    def _build(self) -> None:
        self._search = self._agent.finder(None)

    def describe_tools(self, names: list[str] | str) -> str:
        """Typed Python stubs of functions: arguments and response shapes.

        read_only = True

        Raises:
            UnknownTool: there is none of these tools; it carries the nearest names of the first.
        """
        names = [names] if isinstance(names, str) else names
        if not names:
            raise BadRequest("name at least one tool; search_tools finds their names.")
        toolbox, known, notes = self._agent.toolbox, dict[str, None](), list[str]()
        for name in names:
            try:
                known[toolbox.find(name).alias] = None
            except UnknownTool as error:
                notes.append(f"# {error}")
        wanted = toolbox.only(known or [toolbox.find(names[0]).alias])  # raises where there is none
        text, kept = described_within(wanted, budget=_DESCRIBED_AT_ONCE)
        if left := [name for name in wanted if name not in kept]:
            notes.append(f"# Not shown for want of room: {', '.join(left)}. Ask for fewer at once.")
        return "\n\n".join([text, *notes])

    def check_program(self, source: str) -> Reply:
        """Check a program without running it.

        read_only = True
        """
        program = _readable(source)
        found = certain_findings(program, self._agent.toolbox)
        return {"ok": not found, "findings": [_finding(finding, program) for finding in found]}

    def run_program(self, source: str, continues: str = "", **sent: Unpack[Sent]) -> Reply:
        """Check a Python program against the response schemas, run it in a sandbox, return what it printed or the fault
        with its evidence. continues: run of an earlier reply, whose calls are not repeated.
        """
        program, run = _readable(source), self._run_of(continues) if continues else None
        return self._reply(self._agent.execute(program.source, continues=run, **self._gated(**sent)))

    def resume_run(self, run: str, **sent: Unpack[Sent]) -> Reply:
        """Go on with a paused run after a person has allowed its write."""
        return self._reply(self._resume(run, self._gated(**sent)))

    def call(self, name: str, arguments: JsonObject, **sent: Unpack[Sent]) -> Reply:
        """Call one tool by a program of one line, so that it is checked, gated and journaled as every other.

        The reply has the full response under `result`, or what went wrong under `error`.

        Raises:
            UnknownTool: there is no such tool.
        """
        tool = self._agent.toolbox.find(name)
        aliases = {original: alias for alias, original in tool.arguments.items()}
        given = {aliases.get(original, original): value for original, value in arguments.items()}
        return self._called(self._agent.execute(f"{tool.alias}(**{given!r})", **self._gated(**sent)))

    def call_again(self, handle: str, **sent: Unpack[Sent]) -> Reply:
        """Go on with a `call` that waited for a person."""
        return self._called(self._resume(handle, self._gated(**sent)))

    def stored(self, handle: str) -> Reply:
        """A run with its programs, calls and faults; secrets are placeholders."""
        run = self._agent.store.load(self._run_of(handle))
        redact = redactor(run)
        attempts = [asdict(attempt) | {"answer": attempt.answer} for attempt in redact.value(run.attempts)]
        return {"status": run.summary.status, "attempts": attempts}

    def handle_of(self, run: str) -> str:
        """The name by which a client continues a run: its id, and a mark that only this gateway can make."""
        return f"{run}.{hmac.new(self._key, run.encode(), sha256).hexdigest()[:24]}"

    def _run_of(self, handle: str) -> str:
        run = handle.rpartition(".")[0]
        if not run or not hmac.compare_digest(self.handle_of(run), handle):
            raise BadRequest(f"no run {handle!r}; give 'run' as an earlier reply of run_program gave it.")
        return run

    def _gated(self, client: str = "", **how: Unpack[GoingOn]) -> GoingOn:
        return {**how, "before_write": partial(self._hold, client), "max_seconds": self.limits.run_seconds}

    def _hold(self, client: str, run: str, tool: Tool, arguments: JsonObject) -> None:
        """Stops `run` before a write which an earlier run made, too, and of which nobody knows whether it took effect.

        A client that never got a reply sends its program anew: the same write must not be done twice.
        """
        self._writers[run] = client
        while len(self._writers) > _WRITERS_KEPT:
            self._writers.popitem(last=False)
        if (found := self._agent.in_doubt(tool, arguments)) is None:
            return
        earlier, call = found
        lost = call.outcome != "done"
        what = (
            "its answer was lost, so it may have taken effect" if lost else "it took effect before it was interrupted"
        )
        own = self._writers.get(earlier) == client
        way = f" Go on with that run: continues={self.handle_of(earlier)!r}; nothing is sent twice." if own else ""
        raise Paused(
            f"{tool.alias} is not sent: run {earlier} made this same call: {what}.{way} A person goes on with it by:"
            f" atc runs resume {earlier}{' --resend (if it did not take effect)' if lost else ''}. If it is to be sent"
            f" once more all the same: atc runs purge {earlier}"
        )

    def _resume(self, handle: str, how: GoingOn) -> Solution:
        run = self._run_of(handle)
        stored = self._agent.store.load(run)
        if stored.summary.status == "solved":  # a person has resumed it from the command line
            task, answer = stored.summary.task, stored.summary.answer
            return Solution(task=task, attempts=stored.attempts, status="solved", answer=answer, run=run)
        return self._agent.resume(run, **how)

    def _covered(self, solution: Solution) -> Solution:
        """The solution with a placeholder for each secret."""
        called = {call.tool for attempt in solution.attempts for call in attempt.calls}
        redact = Redactor(self._agent.toolbox.only(called))
        redact.learn_sources(self._agent.config.tools)
        redact.learn_attempts(solution.attempts)
        return redact.value(solution)

    def _called(self, solution: Solution) -> Reply:
        """What the caller of one tool is told."""
        last = self._covered(solution).attempts[-1]
        reply: dict[str, Json] = {"status": solution.status, "run": self.handle_of(solution.run or "")}
        called = self._agent.toolbox.get(last.program.source.partition("(")[0])
        if called is not None and isinstance(called.protocol.binding, ProgramBinding) and last.answer is not None:
            return reply | {"result": _answer(last)}
        call = last.calls[-1] if last.calls else None
        if call is None or call.error is not None:
            problem = call.error if call is not None else last.fault.message if last.fault is not None else "no call"
            return reply | {"error": problem}
        if call.drift:
            problem = f"the response departs from its declared schema ({'; '.join(call.drift)})"
            return reply | {"error": problem, "response": call.result}
        return reply | {"result": call.result}

    def _reply(self, solution: Solution) -> Reply:
        """What the client's model is told of a run. Secrets are placeholders."""
        solution = self._covered(solution)
        last = solution.attempts[-1]
        printed = last.trace.stdout.strip() if last.trace is not None else ""
        reply: dict[str, Any] = {"status": solution.status, "run": self.handle_of(solution.run or "")}
        if last.answer is not None:
            reply["answer"] = self._results.shown(_answer(last))
        if calls := last.calls:
            more = [f"… {len(calls) - _CALLS_SHOWN} more"] if len(calls) > _CALLS_SHOWN else []
            reply["calls"] = [*map(_call_line, calls[:_CALLS_SHOWN]), *more]
            if reused := sum(call.reused for call in calls):
                reply["reused"] = f"{reused} of {len(calls)} calls were answered by the journal, not made again"
        value = "" if printed else last.answer or ""  # as it left the sandbox
        cut = len(value) >= VALUE_CHARACTERS and value.endswith("…")
        warnings = [_CUT] if cut else []
        warnings += [*last.doubts, *(f"{c.tool}: {clause}" for c in calls for clause in c.drift[:1])]
        if warnings:
            reply["warnings"] = list(dict.fromkeys(warnings))[:8]
        if last.findings:
            reply["findings"] = [_finding(finding, last.program) for finding in last.findings]
        elif last.fault is not None:
            reply["fault"] = _fault(last.fault)
        if last.answer is None and printed:
            reply["printed"] = self._results.shown(printed)
        if solution.unknown:
            reply["unknown_writes"] = [_call_line(call) for call in solution.unknown]
        if solution.orphans:
            reply["left_behind"] = [_call_line(call) for call in solution.orphans]
        if solution.status == "paused":
            reply["next"] = _next_step(solution, self.handle_of(solution.run or ""))
        return reply


def _readable(source: str) -> Program:
    if not source.strip():
        raise BadRequest("the program is empty; write Python that calls the tools and prints the answer.")
    if len(source) > _LONGEST_SOURCE:
        raise BadRequest(f"the program has {len(source):,} characters, more than {_LONGEST_SOURCE:,}.")
    return Program(source)


def _answer(attempt: Attempt) -> Json:
    """What was printed, as JSON where it is JSON or a Python literal; else the last expression's value."""
    assert attempt.trace is not None
    printed = attempt.trace.stdout.strip()
    return answered(printed) if printed else attempt.trace.value


def _call_line(call: ToolCall) -> str:
    """`get_film(film_id=7) → {title: string} · 12 ms`."""
    came = shape(call.result) if call.error is None else f"{call.outcome}: {call.error[:200]}"
    took = "reused" if call.reused else f"{call.seconds * 1000:.0f} ms"
    within = f"{call.within}: " if call.within else ""
    return f"line {call.line}: {within}{invocation(call, most=80)} → {came[:300]} · {took}"


def _finding(finding: Finding, program: Program) -> Reply:
    found: dict[str, Json] = {"line": finding.line, "code": program.line(finding.line), "problem": finding.message}
    if finding.suggestion and finding.suggestion not in finding.message:
        found["suggestion"] = finding.suggestion
    return found


def _fault(fault: Fault) -> Reply:
    more = {"line": fault.line, "blamed_call": fault.tool, "evidence": [fact.text for fact in fault.evidence] or None}
    told = {name: value for name, value in more.items() if value is not None}
    return {"kind": fault.kind, "problem": fault.message, **told}


def _next_step(solution: Solution, handle: str) -> str:
    """What a person types, and what the client does then."""
    last = solution.attempts[-1]
    failure = last.trace.failure if last.trace is not None else None
    if failure is None:
        return (
            "Writes of earlier programs of this run stand that this one does not make: undo them in a program that"
            f" continues it, or a person lets them stand: atc runs resume {solution.run} --accept-orphans"
        )
    return f"{failure.message.rstrip('.')}. When that is done, call resume_run(run={handle!r})."
