"""The operations of the gateway, without MCP: search and describe tools, check and run programs,
resume a paused run.

The client's model writes the programs. `atc` checks each one against the response schemas before
any call and runs it in the sandbox. Calls that the same run has completed are answered from the
journal. A failure is blamed on one call.
"""

from __future__ import annotations

import hmac
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from hashlib import sha256
from typing import Any, Unpack

from atc.agent import Agent
from atc.agent.run_start import GatewayClient
from atc.archive.recording import create_redactor
from atc.core.types import Solution
from atc.pipeline.retrieve.base import Retriever
from atc.pipeline.retrieve.finder import open_finder, open_index
from atc.safety.redaction import Redactor
from atc.serve.earlier_writes import find_write_in_doubt
from atc.serve.large_results import LargeResults
from atc.serve.replies import (
    GatewayReply,
    answer_of,
    call_line,
    describe_fault,
    describe_finding,
    is_declined,
    next_step,
)
from atc.serve.requests import (
    Asking,
    BadRequest,
    Gated,
    Sent,
    find_tools,
    validate_names,
    validate_program,
    validate_query,
)
from atc.store.stored import RunTaken
from atc.strategies.provided import NoModel, certain_findings
from protocols.documentation import docs_page
from protocols.protocol import ProgramBinding, dump
from protocols.render import describe_within_budget, signature_line, stubs, token_estimate
from protocols.schema import Json, JsonObject
from protocols.sources import load_tools
from protocols.toolbox import Tool, Toolbox
from sandbox.arguments import shorten
from sandbox.base import Paused
from sandbox.frames import VALUE_CHARACTERS

DESCRIBED_TOKENS = 2_000
"""If the stubs of all tools fit in so many tokens, they are described when a client connects."""
_SEARCHED = 8
"""How many tools a search returns by default."""
_MOST_SEARCHED = 40
_INDEX_SECONDS = 5.0
"""How long the first search waits for the index."""
_DESCRIBED_AT_ONCE = 12_000
"""Tokens of one reply of `describe_tools`."""
_CALLS_SHOWN = 30
_CUT = (
    f"The value has over {VALUE_CHARACTERS:,} characters and only the beginning of its text is here: print it, or"
    " a part of it."
)
_CALL_AGAIN = "When a person has decided, make the same call again: it brings the answer, and nothing is sent twice."
_WRITERS_KEPT = 10_000
"""How many runs, the latest ones, have their client remembered."""


@dataclass(frozen=True, kw_only=True)
class GatewayLimits:
    """What one client may use of a gateway that others use too."""

    run_seconds: float = 120.0
    """Wall time of one program, including its waits for tools."""
    programs: int = 16
    """Programs of all clients that run at the same time; others wait."""
    programs_each: int = 10
    """Programs of one client that run at the same time, so that a busy one leaves room for others.
    """
    waiting_each: int = 100
    """Requests of one client that may wait; one more is refused."""
    questions: int = 32
    """Questions to persons, of all clients, that are open at the same time."""
    questions_each: int = 8
    """Open questions of one client. One more ends the question that has been open longest, and its
    run is paused.
    """


class Gateway:
    """Runs programs of other agents over one toolbox. Thread-safe.

    Five of its methods are offered to clients; a client's model reads their signatures and
    docstrings. Each reply is a JSON object. Runs are named by handles that cannot be guessed. So a
    client can continue its own runs and no other's, also after it has reconnected, and at another
    gateway with the same store and the same `key`. `agent` must have a store.

    A client is told the response shapes that its own calls have shown. With `share_learned` it is
    also told those that other clients' calls have shown, but only the keys that are certainly names
    of fields. `waits` is called with each run that waits for a person, once its client has the
    reply.
    """

    def __init__(
        self,
        agent: Agent,
        *,
        key: bytes | None = None,
        limits: GatewayLimits | None = None,
        share_learned: bool = False,
        waits: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._agent = agent
        self._key = key or agent.store.key()
        self.limits = limits or GatewayLimits()
        self._share_learned = share_learned
        self.waits = waits
        self._results = LargeResults()
        self._own = load_tools(self._results.read_result)
        agent.offer(self._own.values())
        self._agents_lock = threading.Lock()
        self._agents: dict[str, Agent] = {}  # by what they learn under
        self._writers: OrderedDict[str, str] = (
            OrderedDict()
        )  # the client of each run that was about to write
        self._search_lock = threading.Lock()
        self._search: Retriever | None = None

    @property
    def seal(self) -> bytes:
        """The key that seals the state a client keeps between two requests.

        Each gateway with the same `key` opens what another has sealed.
        """
        return hmac.digest(self._key, b"request state", "sha256")

    def _agent_of(self, client: str) -> Agent:
        """Return the agent of one client. The client over stdio is the user who runs the
        gateway.
        """
        if not client:
            return self._agent
        name = (
            "shared"
            if self._share_learned
            else hmac.new(self._key, client.encode(), sha256).hexdigest()[:32]
        )
        with self._agents_lock:
            if name not in self._agents:
                self._agents[name] = self._agent.with_own_schemas(name, shared=self._share_learned)
            return self._agents[name]

    def tools(self, client: str = "") -> Toolbox:
        """The tools that a client's programs may call, without `read_result`."""
        toolbox = self._agent_of(client).toolbox
        return toolbox.only([name for name in toolbox if name not in self._own])

    def overview(self, client: str = "") -> str:
        """Return the stubs of all tools if they fit `DESCRIBED_TOKENS`, else how many tools there
        are and their sources.
        """
        tools = self.tools(client)
        if (
            len(tools) * 10 <= DESCRIBED_TOKENS
            and token_estimate(text := stubs(tools)) <= DESCRIBED_TOKENS
        ):
            return text
        counts = Counter(tool.source for tool in tools.values())
        sources = ", ".join(f"{name or 'tools'} ({count})" for name, count in counts.most_common(8))
        more = f" and {len(counts) - 8} more sources" if len(counts) > 8 else ""
        return f"{len(tools)} tools: {sources}{more}. Search, then describe, then run."

    def search_tools(
        self, query: str, limit: int = _SEARCHED, **asking: Unpack[Asking]
    ) -> GatewayReply:
        """Find API functions by what they do or by name.

        Best first, with those that yield the ids they need; a line each.

        read_only = True
        """
        query = validate_query(query)
        limit = min(max(limit, 1), _MOST_SEARCHED)
        with self._search_lock:
            found = self._finder().search(query, k=limit)
        toolbox = self._agent_of(asking.get("client", "")).toolbox
        lines = [signature_line(toolbox[hit.tool]) for hit in found.hits]
        return {"tools": lines, "of": len(toolbox) - len(self._own)}

    def _finder(self) -> Retriever:
        """Return the configured search once its index is built, and a search by words until
        then.
        """
        if self._search is None:
            self._search = _word_finder(self._agent)
            building = threading.Thread(target=self._build, daemon=True)
            building.start()
            building.join(_INDEX_SECONDS)
        return self._search

    def _build(self) -> None:
        self._search = self._agent.finder(None)

    def describe_tools(self, names: list[str] | str, **asking: Unpack[Asking]) -> str:
        """Typed Python stubs of functions: arguments and response shapes.

        read_only = True

        Raises:
            UnknownTool: there is none of these tools; it carries the nearest names of the first.
        """
        toolbox = self._agent_of(asking.get("client", "")).toolbox
        wanted, notes = find_tools(toolbox, validate_names(names))
        text, kept = describe_within_budget(wanted, budget=_DESCRIBED_AT_ONCE)
        if left := [name for name in wanted if name not in kept]:
            notes.append(f"# Not shown for want of room: {', '.join(left)}. Ask for fewer at once.")
        return "\n\n".join([text, *notes])

    def check_program(self, source: str, **asking: Unpack[Asking]) -> GatewayReply:
        """Check a program without running it.

        read_only = True
        """
        program = validate_program(source)
        found = certain_findings(program, self._agent_of(asking.get("client", "")).toolbox)
        return {
            "ok": not found,
            "findings": [describe_finding(finding, program) for finding in found],
        }

    def run_program(self, source: str, continues: str = "", **sent: Unpack[Sent]) -> GatewayReply:
        """Check a Python program against the response schemas, run it in a sandbox, return what it printed or the fault
        with its evidence. continues: run of an earlier reply, whose calls are not repeated.
        """
        program = validate_program(source)
        run = self._run_of(continues) if continues else None
        client = sent.get("client") or ""
        with _one_at_a_time():
            done = self._agent_of(client).execute(
                program.source, continues=run, **self._gated_options(**sent)
            )
        return self._run_reply(done, client)

    def resume_run(self, run: str, **sent: Unpack[Sent]) -> GatewayReply:
        """Go on with a paused run after a person has allowed its write."""
        client = sent.get("client") or ""
        return self._run_reply(self._resume(client, run, self._gated_options(**sent)), client)

    def call(
        self, name: str, arguments: JsonObject, continues: str = "", **sent: Unpack[Sent]
    ) -> GatewayReply:
        """Call one tool through a program of one line, so that it is checked, allowed and recorded
        like any other.

        The reply has the full response under `result`, or what went wrong under `error`. If the
        same client has made the same call before and it waits for a person, that run is continued.

        Raises:
            UnknownTool: There is no such tool.
        """
        tool = self._agent.toolbox.find(name)
        aliases = {original: alias for alias, original in tool.arguments.items()}
        given = {aliases.get(original, original): value for original, value in arguments.items()}
        agent = self._agent_of(sent.get("client") or "")
        source = f"{tool.alias}(**{given!r})"
        how = self._gated_options(**sent)
        arguments = tool.original_arguments(given)
        run = (
            self._run_of(continues)
            if continues
            else self._find_waiting_run(tool, arguments, source, how["client"].name)
        )
        with _one_at_a_time():
            solution = agent.execute(source, continues=run, **how)
        if run is not None and solution.status == "solved":
            self._agent.store.questions.mark_answered(tool, arguments, run)
        return self._call_reply(solution)

    def _find_waiting_run(
        self, tool: Tool, arguments: JsonObject, source: str, client: str
    ) -> str | None:
        """Return the latest run in which this call of this client waits for a person, or was
        allowed but not answered yet.
        """
        store = self._agent.store
        for asked in store.questions.about(tool, arguments):
            attempts = (
                store.load(asked.run).attempts if asked.run and asked.client == client else ()
            )
            if attempts and attempts[-1].program.source == source:
                return asked.run
        return None

    def describe_run(self, handle: str) -> GatewayReply:
        """Return a run with its programs, calls and faults. Secrets are placeholders."""
        run = self._agent.store.load(self._run_of(handle))
        redact = create_redactor(run)
        attempts = [
            asdict(attempt) | {"answer": attempt.answer} for attempt in redact.value(run.attempts)
        ]
        return {"status": run.summary.status, "attempts": attempts}

    def protocol(self, name: str, client: str = "") -> GatewayReply:
        """Return the protocol of a tool as a client's programs know it.

        Raises:
            UnknownTool: there is no such tool.
        """
        return dump(self.tools(client).find(name).protocol)

    def handle_of(self, run: str) -> str:
        """Return the handle by which a client continues a run: its id, and a signature of this
        gateway.
        """
        return f"{run}.{hmac.new(self._key, run.encode(), sha256).hexdigest()[:24]}"

    def _run_of(self, handle: str) -> str:
        run = handle.rpartition(".")[0]
        if not run or not hmac.compare_digest(self.handle_of(run), handle):
            raise BadRequest(
                f"no run {shorten(handle, 100)!r}; give 'run' as an earlier reply of run_program gave it."
            )
        return run

    def _gated_options(self, **how: Unpack[Sent]) -> Gated:
        """Return the options of a run of a client's program.

        The client is recorded as a digest, since its name may be a secret.
        """
        name = hmac.new(self._key, f"client {how.get('client')}".encode(), sha256).hexdigest()[:24]
        hold = partial(self._refuse_repeated_write, name)
        return {
            "observer": how.get("observer"),
            "ask_person": how.get("ask_person"),
            "max_seconds": self.limits.run_seconds,
            "client": GatewayClient(name=name, before_write=hold, answered=how.get("answered", ())),
        }

    def _refuse_repeated_write(
        self, client: str, run: str, tool: Tool, arguments: JsonObject
    ) -> None:
        """Stop `run` before a write that an earlier run made, if its caller may not know the
        outcome.

        A client that never got a reply sends its program again; the same write must not be made
        twice.
        """
        self._writers[run] = client
        while len(self._writers) > _WRITERS_KEPT:
            self._writers.popitem(last=False)
        found = find_write_in_doubt(self._agent.store, self._agent.toolbox, tool, arguments)
        if found is None:
            return
        earlier, call = found
        lost = call.outcome != "done"
        what = (
            "its answer was lost, so it may have taken effect"
            if lost
            else "it took effect before that run was interrupted, or stopped for a person"
        )
        own = self._writers.get(earlier) == client
        way = (
            f" Go on with that run: continues={self.handle_of(earlier)!r}; nothing is sent twice."
            if own
            else ""
        )
        raise Paused(
            f"{tool.alias} is not sent: run {earlier} made this same call: {what}.{way} Else a person decides about"
            f" that run, as {docs_page('guides/writes#a-call-that-another-run-has-made')} says"
        )

    def _resume(self, client: str, handle: str, how: Gated) -> Solution:
        run = self._run_of(handle)
        stored = self._agent.store.load(run)
        if stored.summary.status == "solved":  # a person has resumed it from the command line
            task = stored.summary.task
            answer = stored.summary.answer
            return Solution(
                task=task, attempts=stored.attempts, status="solved", answer=answer, run_id=run
            )
        with _one_at_a_time():
            return self._agent_of(client).resume(run, **how)

    def _redact_solution(self, solution: Solution) -> Solution:
        """Return the solution with a placeholder in the place of each secret."""
        called = {call.tool for attempt in solution.attempts for call in attempt.calls}
        redact = Redactor(self._agent.toolbox.only(called))
        redact.learn_sources(self._agent.config.tools)
        redact.learn_attempts(solution.attempts)
        return redact.value(solution)

    def _call_reply(self, solution: Solution) -> GatewayReply:
        """Return the reply to the call of one tool."""
        last = self._redact_solution(solution).attempts[-1]
        status = "declined" if is_declined(solution) else solution.status
        reply: dict[str, Json] = {"status": status, "run": self.handle_of(solution.run_id or "")}
        called = self._agent.toolbox.get(last.program.source.partition("(")[0])
        if (
            called is not None
            and isinstance(called.protocol.binding, ProgramBinding)
            and last.answer is not None
        ):
            return reply | {"result": answer_of(last)}
        call = last.calls[-1] if last.calls else None
        if call is None or call.error is not None:
            problem: str | None = "no call"
            if call is not None:
                problem = call.error
            elif last.fault is not None:
                problem = last.fault.message
            then = {"next": _CALL_AGAIN} if status == "paused" else {}
            return reply | {"error": problem} | then
        if call.drift:
            problem = f"the response departs from its declared schema ({'; '.join(call.drift)})"
            return reply | {"error": problem, "response": call.result}
        return reply | {"result": call.result}

    def _run_reply(self, solution: Solution, client: str) -> GatewayReply:
        """Return the reply about a run. Secrets are placeholders."""
        solution = self._redact_solution(solution)
        last = solution.attempts[-1]
        printed = last.trace.stdout.strip() if last.trace is not None else ""
        reply: dict[str, Any] = {
            "status": solution.status,
            "run": self.handle_of(solution.run_id or ""),
        }
        if last.answer is not None:
            reply["answer"] = self._results.shorten(answer_of(last), client)
        if calls := last.calls:
            more = [f"… {len(calls) - _CALLS_SHOWN} more"] if len(calls) > _CALLS_SHOWN else []
            reply["calls"] = [*map(call_line, calls[:_CALLS_SHOWN]), *more]
            if reused := sum(call.reused for call in calls):
                reply["reused"] = (
                    f"{reused} of {len(calls)} calls were answered by the journal, not made again"
                )
        value = "" if printed else last.answer or ""  # as it left the sandbox
        cut = len(value) >= VALUE_CHARACTERS and value.endswith("…")
        warnings = [_CUT] if cut else []
        warnings += [
            *last.doubts,
            *(f"{c.tool}: {clause}" for c in calls for clause in c.drift[:1]),
        ]
        if warnings:
            reply["warnings"] = list(dict.fromkeys(warnings))[:8]
        if last.findings:
            reply["findings"] = [
                describe_finding(finding, last.program) for finding in last.findings
            ]
        elif last.fault is not None:
            reply["fault"] = describe_fault(last.fault)
        if last.answer is None and printed:
            reply["printed"] = self._results.shorten(printed, client)
        if solution.unknown_writes:
            reply["unknown_writes"] = [call_line(call) for call in solution.unknown_writes]
        if solution.orphans:
            reply["orphans"] = [call_line(call) for call in solution.orphans]
        if is_declined(solution):
            reply["status"] = "declined"
        elif solution.status == "paused":
            reply["next"] = next_step(solution, self.handle_of(solution.run_id or ""))
        return reply


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Tell a client that another request works on its run, without saying in which process."""
    try:
        yield
    except RunTaken as taken:
        raise BadRequest(
            "another request works on this run now: wait for its reply, then call again."
        ) from taken


def _word_finder(agent: Agent) -> Retriever:
    """Return a search by words alone. It is ready at once, while an index by meaning takes
    minutes.
    """
    index = open_index(agent.toolbox, replace(agent.config, index=None, tools=()), method="bm25")
    return open_finder("bm25", index, agent.toolbox, ask=NoModel(), threads=1)
