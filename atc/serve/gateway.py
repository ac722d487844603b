"""The operations that the gateway offers to clients, independent of MCP.

A client can search and describe tools, check and run programs, and resume a paused run. The
client's model writes the programs. The gateway checks each one against the response schemas before
any call, and runs it in the sandbox. Calls that the same run has completed are not made again;
their stored results are used. A failure is blamed on one call.
"""

from __future__ import annotations

import hmac
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from hashlib import sha256
from typing import Unpack

from atc.agent import Agent
from atc.agent.run_start import GatewayClient, RunOptions
from atc.archive.recording import create_redactor
from atc.core.types import Solution
from atc.safety.redaction import Redactor
from atc.serve.earlier_writes import find_write_in_doubt
from atc.serve.gateway_agent import ClientAgents, GatewaySearch
from atc.serve.gateway_limits import GatewayLimits
from atc.serve.large_results import LargeResults
from atc.serve.refused_programs import INSIST, RefusedPrograms
from atc.serve.replies import (
    CheckReply,
    RunReply,
    SearchReply,
    call_reply,
    describe_finding,
    run_reply,
)
from atc.serve.requests import (
    Asking,
    BadRequest,
    ProgramOptions,
    find_tools,
    one_at_a_time,
    validate_names,
    validate_program,
    validate_query,
)
from atc.serve.stored_files import open_file
from atc.strategies.provided import certain_findings, is_open_to_doubt
from protocols.documentation import docs_page
from protocols.files import FileValue
from protocols.protocol import dump
from protocols.render import describe_within_budget, signature_line, stubs, token_estimate
from protocols.schema import Json, JsonObject
from protocols.sources import load_tools
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.arguments import shorten
from sandbox.base import Paused

DESCRIBED_TOKENS = 2_000
"""Clients that list the tools get all stubs if these have at most this number of tokens."""
_SEARCHED = 8
"""Number of tools that a search returns by default."""
_MOST_SEARCHED = 40
_DESCRIBED_AT_ONCE = 12_000
"""Maximum number of tokens of one reply of `describe_tools`."""
_WRITERS_KEPT = 10_000
"""Number of the latest runs for which the gateway remembers the client."""


class Gateway:
    """Runs programs of other agents, the clients, with the tools of one agent. Thread-safe.

    Five of its methods are offered to clients; a client's model reads their signatures and
    docstrings. A run is identified by a handle that cannot be guessed, so a client can continue
    only its own runs. It can do so after it has reconnected, and at another gateway with the same
    store and the same `key`. `agent` must have a store.

    Clients see the response schemas that were learned from their own calls. With `share_learned`,
    they also see those learned from other clients' calls, but only keys that are certainly field
    names. `waits` is called with the id of each run that waits for a person, when its client gets
    the reply.
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
        self.waits = waits
        self._results = LargeResults()
        self._refused = RefusedPrograms()
        self._own = load_tools(self._results.read_result)
        self._agents = ClientAgents(agent, self._own, key=self._key, share_learned=share_learned)
        self._search = GatewaySearch(self._agents.of_user)
        # The client of each run that was about to make a write, keyed by run id.
        self._writers: OrderedDict[str, str] = OrderedDict()

    @property
    def seal(self) -> bytes:
        """The key that encrypts the `RequestState` which a client returns with its next request.

        Gateways with the same `key` can read each other's states.
        """
        return hmac.digest(self._key, b"request state", "sha256")

    def tools(self, client: str = "") -> Toolbox:
        """Return the API tools that a client's programs may call, without the gateway's own."""
        toolbox = self._agents.of(client).toolbox
        return toolbox.only([name for name in toolbox if name not in self._own])

    def overview(self, client: str = "") -> str:
        """Return a text about all tools: their stubs if these are short (see `DESCRIBED_TOKENS`).

        Otherwise the text has only the number of tools and their sources. What of the sources is
        left out is said at the end.
        """
        tools = self.tools(client)
        notes = "".join(f"\n\nNote: {note}" for note in tools.notes)
        if (
            len(tools) * 10 <= DESCRIBED_TOKENS
            and token_estimate(text := stubs(tools)) <= DESCRIBED_TOKENS
        ):
            return text + notes
        counts = Counter(tool.source for tool in tools.values())
        sources = ", ".join(f"{name or 'tools'} ({count})" for name, count in counts.most_common(8))
        more = f" and {len(counts) - 8} more sources" if len(counts) > 8 else ""
        return f"{len(tools)} tools: {sources}{more}. Search, then describe, then run.{notes}"

    def search_tools(
        self, query: str, limit: int = _SEARCHED, **asking: Unpack[Asking]
    ) -> SearchReply:
        """Find API functions by what they do or by name.

        Best first, with those that yield the ids they need; a line each.

        read_only = True
        """
        query = validate_query(query)
        limit = min(max(limit, 1), _MOST_SEARCHED)
        found = self._search.find(query, limit)
        toolbox = self._agents.of(asking.get("client", "")).toolbox
        lines = [signature_line(toolbox[alias]) for alias in found]
        return {"tools": lines, "of": len(toolbox) - len(self._own)}

    def describe_tools(self, names: list[str] | str, **asking: Unpack[Asking]) -> str:
        """Typed Python stubs of functions: arguments and response shapes.

        read_only = True
        """
        # Raises what `find_tools` raises. Clients read this docstring, so it is short.
        toolbox = self._agents.of(asking.get("client", "")).toolbox
        wanted, notes = find_tools(toolbox, validate_names(names))
        text, kept = describe_within_budget(wanted, budget=_DESCRIBED_AT_ONCE)
        if left := [name for name in wanted if name not in kept]:
            notes.append(f"# Not shown for want of room: {', '.join(left)}. Ask for fewer at once.")
        return "\n\n".join([text, *notes])

    def check_program(self, source: str, **asking: Unpack[Asking]) -> CheckReply:
        """Check a program without running it.

        read_only = True
        """
        program = validate_program(source)
        found = certain_findings(program, self._agents.of(asking.get("client", "")).toolbox)
        return {
            "ok": not found,
            "findings": [describe_finding(finding, program) for finding in found],
        }

    def run_program(
        self, source: str, continues: str = "", **options: Unpack[ProgramOptions]
    ) -> RunReply:
        """Check a Python program against the response schemas, run it in a sandbox, return what it
        printed or the fault with its evidence. continues: run of an earlier reply, whose calls are
        not repeated.
        """
        program = validate_program(source)
        run = self._run_of(continues) if continues else None
        client = options.get("client") or ""
        agent = self._agents.of(client)
        run_options = replace(
            self._run_options(**options), insists=self._refused.contains(client, program.source)
        )
        with one_at_a_time():
            solution = agent.run(program.source, run_options, continues=run)
        reply = self._run_reply(solution, client)
        if is_open_to_doubt(solution.attempts[-1].findings, program, agent.toolbox):
            self._refused.add(client, program.source)
            reply["next"] = INSIST
        return reply

    def resume_run(self, run: str, **options: Unpack[ProgramOptions]) -> RunReply:
        """Go on with a paused run after a person has allowed its write."""
        client = options.get("client") or ""
        return self._run_reply(self._resume(client, run, self._run_options(**options)), client)

    def call(
        self,
        name: str,
        arguments: JsonObject,
        continues: str = "",
        **options: Unpack[ProgramOptions],
    ) -> RunReply:
        """Call one tool by running a program of one line, with the same checks as any program.

        The reply has the full response in `result`, or a message in `error`. If the client has
        made the same call before, and the call waits for a person, that run is continued.

        Raises:
            UnknownTool: There is no such tool.
        """
        tool = self._agents.of_user.toolbox.find(name)
        aliases = {original: alias for alias, original in tool.arguments.items()}
        given = {aliases.get(original, original): value for original, value in arguments.items()}
        agent = self._agents.of(options.get("client") or "")
        source = f"{tool.alias}(**{given!r})"
        run_options = self._run_options(**options)
        arguments = tool.original_arguments(given)
        run = (
            self._run_of(continues)
            if continues
            else self._find_waiting_run(tool, arguments, source, self._client_digest(**options))
        )
        with one_at_a_time():
            solution = agent.run(source, run_options, continues=run)
        if run is not None and solution.status == "solved":
            self._agent.store.questions.mark_answered(tool, arguments, run)
        toolbox = self._agents.of_user.toolbox
        return call_reply(
            self._redact_solution(solution), self.handle_of(solution.run_id or ""), toolbox
        )

    def _find_waiting_run(
        self, tool: Tool, arguments: JsonObject, source: str, client: str
    ) -> str | None:
        """Return the id of the latest run in which a client's call waits for a person, or None.

        A call that a person has allowed, but whose result the client does not have yet, counts,
        too.
        """
        store = self._agent.store
        for asked in store.questions.about(tool, arguments):
            attempts = (
                store.load(asked.run).attempts if asked.run and asked.client == client else ()
            )
            if attempts and attempts[-1].program.source == source:
                return asked.run
        return None

    def describe_run(self, handle: str) -> dict[str, Json]:
        """Return a run with its programs, calls and faults. Secrets become placeholders."""
        run = self._agent.store.load(self._run_of(handle))
        redact = create_redactor(run)
        attempts = [
            asdict(attempt) | {"answer": attempt.answer} for attempt in redact.value(run.attempts)
        ]
        return {"status": run.summary.status, "attempts": attempts}

    def open_file(self, handle: str, digest: str) -> FileValue:
        """Return the file of a run with this SHA-256. Raises `BadRequest` if there is none."""
        file = open_file(self._agent.store, self._run_of(handle), digest)
        if file is None:
            raise BadRequest("the run has no such file; give its address as a reply gave it.")
        return file

    def protocol(self, name: str, client: str = "") -> dict[str, Json]:
        """Return the protocol of a tool, with the response schema that the client may see.

        Raises:
            UnknownTool: There is no such tool.
        """
        return dump(self.tools(client).find(name).protocol)

    def handle_of(self, run: str) -> str:
        """Return the handle with which a client can continue a run: its id and a signature."""
        return f"{run}.{hmac.new(self._key, run.encode(), sha256).hexdigest()[:24]}"

    def _run_of(self, handle: str) -> str:
        run = handle.rpartition(".")[0]
        if not run or not hmac.compare_digest(self.handle_of(run), handle):
            raise BadRequest(
                f"no run {shorten(handle, 100)!r}; give 'run' as an earlier reply of"
                " run_program gave it."
            )
        return run

    def _run_options(self, **options: Unpack[ProgramOptions]) -> RunOptions:
        """Return the options for a run of a client's program: its limits, observer and client."""
        name = self._client_digest(**options)
        hold = partial(self._refuse_repeated_write, name)
        return RunOptions(
            observer=options.get("observer"),
            ask_person=options.get("ask_person"),
            max_seconds=self.limits.run_seconds,
            client=GatewayClient(
                name=name, before_write=hold, answered=options.get("answered", ())
            ),
        )

    def _client_digest(self, **options: Unpack[ProgramOptions]) -> str:
        """Return a digest that identifies a client in the store, where its name must not appear."""
        name = f"client {options.get('client')}".encode()
        return hmac.new(self._key, name, sha256).hexdigest()[:24]

    def _refuse_repeated_write(
        self, client: str, run: str, tool: Tool, arguments: JsonObject
    ) -> None:
        """Check that a write of `run` does not repeat one whose outcome its client may not know.

        A client that got no reply may send its program again. The same write must not be sent twice
        then.

        Raises:
            Paused: An earlier run made the same write, and its outcome may be unknown to its
                client.
        """
        self._writers[run] = client
        while len(self._writers) > _WRITERS_KEPT:
            self._writers.popitem(last=False)
        found = find_write_in_doubt(
            self._agent.store, self._agents.of_user.toolbox, tool, arguments
        )
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
            f"{tool.alias} is not sent: run {earlier} made this same call: {what}.{way}"
            " Else a person decides about"
            f" that run, as {docs_page('guides/writes#a-call-that-another-run-has-made')} says"
        )

    def _resume(self, client: str, handle: str, options: RunOptions) -> Solution:
        run = self._run_of(handle)
        stored = self._agent.store.load(run)
        if stored.summary.status == "solved":  # a person has resumed it from the command line
            task = stored.summary.task
            answer = stored.summary.answer
            return Solution(
                task=task, attempts=stored.attempts, status="solved", answer=answer, run_id=run
            )
        with one_at_a_time():
            return self._agents.of(client).resume(run, options)

    def _run_reply(self, solution: Solution, client: str) -> RunReply:
        """Return the reply about a client's run. Secrets become placeholders."""
        return run_reply(
            self._redact_solution(solution),
            self.handle_of(solution.run_id or ""),
            lambda value: self._results.shorten(value, client),
        )

    def close(self) -> None:
        """Close the search index of the gateway. The agent stays open."""
        self._agents.of_user.close()

    def _redact_solution(self, solution: Solution) -> Solution:
        """Return the solution with secrets replaced by placeholders."""
        called = {call.tool for attempt in solution.attempts for call in attempt.calls}
        redact = Redactor(self._agents.of_user.toolbox.only(called))
        redact.learn_sources(self._agent.config.tools)
        redact.learn_attempts(solution.attempts)
        return redact.value(solution)
