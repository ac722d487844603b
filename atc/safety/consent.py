"""The gate before every call that can change something or tell somebody: which tools may write, with which values."""

from __future__ import annotations

import shlex
import threading
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial

from atc.core.config import Config
from atc.core.quoting import command, quote_name, safe_shell_argument
from atc.core.types import Program
from atc.safety.held_calls import HeldCalls
from atc.safety.questions import MOST_DECIDING, AskPerson, Question, is_readable, most_beside
from atc.safety.redaction import Redactor
from atc.safety.taint import Taint, TaintedValue
from atc.safety.taint.trusted import find_named_tool
from atc.store.questions import PastQuestion
from atc.store.stored import StoredRun
from protocols.errors import AtcError, ToolError
from protocols.protocol import McpBinding
from protocols.schema import JsonObject
from protocols.toolbox import Tool, Toolbox
from sandbox.base import CallDeclined, Paused
from sandbox.journal import Journal
from sandbox.limits import waiting_on_person
from sandbox.write_verification import sorted_json

_MOST_NAMED = 3
"""Values that a message names one by one."""
_MOST_LISTED = 20
"""Further calls that one question lists."""


class Consent:
    """The gate of one run.

    A call that writes goes through when `config.allow_writes` names its tool and no other (or has `all`), or when
    `ask_person` says yes. Any call asks where a value of a sensitive argument is not known to be clean
    (`atc.safety.taint`), whatever is allowed, and so does one that is `held`, also where its tool counts as a read.
    A yes lets each call that was listed through, once. With nobody to ask, or after a no, the call is not sent and the
    run pauses; the message says how to go on. Where an `agent` reads it, it names no command: the agent could give it.
    Nor does it where `cover` takes a value out of what is shown: the command would not be the one that was meant.

    In a run that goes on (`past`), what was allowed when it began holds for the tools that it had then. `before_write`
    is called first with each write, and may raise `Paused`, too. `toolbox` has the gate before each call.

    Raises:
        InvalidConfig: a rule of `config.trust` is none, or it or `allow_writes` has a name that several tools have.
    """

    def __init__(
        self,
        task: str,
        tools: Toolbox,
        config: Config,
        ask_person: AskPerson | None,
        journal: Journal,
        *,
        held: HeldCalls,
        past: StoredRun | None = None,
        before_write: Callable[[Tool, JsonObject], None] | None = None,
        agent: bool = False,
        cover: Callable[[str], str] = str,
    ) -> None:
        self._tools = tools
        self._ask_person = ask_person
        self._before_write = before_write
        self._resume = (
            command("atc", "runs", "resume", journal.run) or "" if journal.run is not None else ""
        )
        self._held = held
        self._agent = agent
        self._cover = cover
        self._program = ""
        self._listed: set[str] = set()
        self._agreed: set[str] = set()
        self._taint = Taint(task, tools, rules=config.trust, calls=journal.completed_calls)
        self._lock = threading.Lock()  # one question at a time; its answer may answer the next
        self._allowed = self._resolve_aliases(config.allow_writes)
        self._again = list[str]()
        if past is not None and (known := past.summary.identities):
            kept = {
                key: Counter(map(str, past.summary.config.get(key) or ()))
                for key in ("allow_writes", "trust")
            }
            new = {key: Counter(getattr(config, key)) - before for key, before in kept.items()}
            self._allowed = (self._allowed & known.keys()) | self._resolve_aliases(
                new["allow_writes"]
            )
            self._again = [
                f"--{key.replace('_', '-')} {shlex.quote(one)}" for key in new for one in new[key]
            ]
        self.toolbox = tools.map(lambda tool: replace(tool, admit=partial(self._admit, tool)))

    def _resolve_aliases(self, names: Collection[str]) -> frozenset[str]:
        """Aliases of the tools that `names` allow."""
        if "all" in names:
            return frozenset(self._tools)
        found = [find_named_tool(name, self._tools, setting="allow_writes") for name in names]
        return frozenset(tool.alias for tool in found if tool is not None)

    def accept_arguments(self, tool: Tool, arguments: JsonObject) -> None:
        """A person gave these arguments themselves, by original name: their values are not asked about."""
        self._taint.agree(tool, self._taint.find_tainted(tool, arguments))

    def begin_program(self, program: Program, *, blind: bool) -> None:
        """A program is about to run. `blind`: it was written before the model had seen any output of a tool."""
        self._program = program.source
        self._held.look_again()
        self._taint.begin_program(program, blind=blind)

    def _admit(self, tool: Tool, arguments: JsonObject) -> None:
        """Let the call through, or raise what stops it; a failure of the gate itself stops it as well."""
        try:
            self._decide(tool, arguments)
        except (Paused, AtcError, ToolError):
            raise
        except Exception as error:
            problem = (
                f"{quote_name(tool.alias)}: this call could not be judged ({type(error).__name__})"
            )
            raise Paused(self._refusal(problem)) from error

    def _decide(self, tool: Tool, arguments: JsonObject) -> None:
        if self._before_write is not None and tool.protocol.writes:
            self._before_write(tool, arguments)
        tool.check(arguments)  # nobody is asked about what cannot be sent
        with self._lock:
            tainted = self._taint.find_tainted(tool, arguments)
            unallowed = tool.protocol.writes and tool.alias not in self._allowed
            held = self._find_holds(tool, arguments, tainted)
            if unallowed or tainted or held:
                declined = any(one.state == "declined" for one in held)
                question = Question(
                    tool=tool, arguments=arguments, tainted=tainted, declined=declined
                )
                if held or not self._was_listed(question):
                    self._ask(question, held=held, unallowed=unallowed)

    def _find_holds(
        self, tool: Tool, arguments: JsonObject, tainted: Sequence[TaintedValue]
    ) -> list[PastQuestion]:
        """Return what holds a call, whatever is allowed.

        A call that was left open, and that nobody declined, goes through a gateway whose consent names its tool: that
        is a person's, who gave it when they started the gateway.
        """
        asks = tool.protocol.writes or tainted or self._taint.has_sensitive_values(tool, arguments)
        held = self._held.about(tool, arguments) if asks else self._held.about_read(tool, arguments)
        declined = any(one.state == "declined" for one in held)
        if (
            not held
            or declined
            or tainted
            or not self._held.is_served
            or tool.alias not in self._allowed
        ):
            return held
        self._held.allow(tool, [arguments], everywhere=True)
        return []

    def _was_listed(self, question: Question) -> bool:
        """Return True if an earlier question listed this very call and got a yes, which is used up now."""
        exactly = self._exact_key(question.tool, question.arguments, question.tainted)
        known = exactly in self._agreed
        self._agreed.discard(exactly)
        return known

    def _ask(self, question: Question, *, held: Sequence[PastQuestion], unallowed: bool) -> None:
        """Let the call through where a person agrees to it now.

        Raises:
            Declined: a person said no, now or before in this run.
            Paused: nobody has decided.
        """
        tool = question.tool
        exactly = self._exact_key(question.tool, question.arguments, question.tainted)
        self._listed.add(exactly)
        others = self._find_similar_calls(question)
        listed = [question.arguments, *(other.arguments for other in others.values())]
        asked = self._held.ask(tool, listed, exactly=sorted_json([exactly, *others]))
        question = replace(question, others=tuple(others.values()), id=asked)
        decision = None
        if self._ask_person is not None and is_readable(question):
            with waiting_on_person():  # a person may take longer than a program may run
                decision = self._ask_person(question)
        if decision is True:
            self._held.allow(tool, listed)
            self._agreed.update(others)
            return
        if decision is False:
            self._held.decline(tool, listed)
            raise CallDeclined(
                self._refusal(
                    f"{quote_name(tool.alias)}: a person said no to this call, so it is declined"
                )
            )
        raise self._stop_undecided(
            question, held, unallowed=unallowed
        )  # whatever else came is no decision

    def _stop_undecided(
        self, question: Question, held: Sequence[PastQuestion], *, unallowed: bool
    ) -> Paused:
        """Return what stops the run if nobody has decided: `Declined` where a person had said no in this run before."""
        tool = quote_name(question.tool.alias)
        if question.declined:
            told = self._refusal(
                f"{tool}: a person has declined this call{_where(held, 'declined')}"
            )
            here = any((one.run, one.state) == (self._held.run, "declined") for one in held)
            return CallDeclined(told) if here else Paused(told)
        if held and not self._agent:
            return Paused(
                self._refusal(f"{tool}: a gateway left this call to a person{_where(held, 'open')}")
            )
        return Paused(self._message(question, held, unallowed=unallowed))

    def _find_similar_calls(self, question: Question) -> dict[str, Question]:
        """Return the same call with each other value at the place that its one doubtful value came from, by `_exact_key`.

        What was listed before by this program is left out, and so is what was declined or other runs hold.
        """
        if len(question.tainted) != 1 or not is_readable(question):
            return {}
        tool = question.tool
        doubtful = question.tainted[0]
        found: dict[str, Question] = {}
        most = min(_MOST_LISTED, most_beside(question))
        for value in self._taint.sibling_values(doubtful):
            arguments = {**question.arguments, doubtful.argument: value}
            tainted = self._taint.find_tainted(tool, arguments)
            alike = [(one.argument, one.path) for one in tainted] == [
                (doubtful.argument, doubtful.path)
            ]
            exactly = self._exact_key(tool, arguments, tainted)
            if (
                alike
                and exactly not in self._listed
                and not self._is_held_elsewhere(tool, arguments)
            ):
                found[exactly] = replace(
                    question, arguments=arguments, tainted=tainted, declined=False
                )
            if len(found) == most:
                break
        self._listed.update(found)
        return found

    def _is_held_elsewhere(self, tool: Tool, arguments: JsonObject) -> bool:
        """Return True if a call is held by more than a question of this run that nobody has answered."""
        own = (self._held.run, "open")
        return any((one.run, one.state) != own for one in self._held.about(tool, arguments))

    def _exact_key(self, tool: Tool, arguments: JsonObject, tainted: Sequence[TaintedValue]) -> str:
        """One call of one program, and what was doubtful about it: all that a yes covers."""
        doubts = [f"{one.place} = {one.value!r}" for one in tainted]
        return sorted_json([self._program, tool.identity, dict(arguments), doubts])

    def _refusal(self, told: str) -> str:
        """Return the message that says what was not sent because of a person, and who can change that."""
        if self._agent:
            return f"{told}; nothing was sent. Only a person can allow it: do not send it again unless one asks for it."
        again = self._resume or "the same command again"
        return f"{told}; nothing was sent, and no option sends it. To decide anew, run this on a terminal: {again}"

    def _message(self, question: Question, held: Sequence[PastQuestion], *, unallowed: bool) -> str:
        """Return what was not sent and why, and the command that allows it."""
        tool = quote_name(question.tool.alias)
        tainted = question.tainted
        problems = [f"{tool} may change something and was not allowed"] if unallowed else []
        problems += [f"{tool}: {one}" for one in tainted[:_MOST_NAMED]]
        if len(tainted) > _MOST_NAMED:
            problems.append(f"{len(tainted) - _MOST_NAMED:,} more of its values are like that")
        if not problems:
            problems.append(f"{tool}: a gateway left this call to a person{_where(held, 'open')}")
        told = f"{'; '.join(problems)}; nothing was sent."
        options = self._options(question, unallowed=unallowed)
        if not is_readable(question):
            told += f" Nobody is asked about a call with more than {MOST_DECIDING} values: send fewer at once."
            if options is None or self._agent:
                return told
        if self._agent:
            return f"{told} A person must decide, in the client's dialog or on a terminal"
        if options is None:  # no command could be read and typed safely
            return f"{told} To see it whole and decide, run this on a terminal: {self._resume or 'the task again'}"
        return (
            f"{told} Allow it with{f': {self._resume}' if self._resume else ''} {' '.join(options)}"
            + _hint(question, unallowed=unallowed)
        )

    def _options(self, question: Question, *, unallowed: bool) -> list[str] | None:
        """Return the options that allow a call, quoted for a shell; None if one of them must not be typed."""
        name = safe_shell_argument(self._tools.shortest_name(question.tool))
        if (unallowed and name is None) or not all(one.rules for one in question.tainted):
            return None
        rules = list(dict.fromkeys(one.rules[-1] for one in question.tainted))
        if any(
            self._redact_text(question, rule) != rule
            for one in question.tainted
            for rule in one.rules
        ):
            return None
        allowed = [f"--allow-writes {name}"] if unallowed else []
        return [*self._again, *allowed, *(f"--trust {rule}" for rule in rules)]

    def _redact_text(self, question: Question, text: str) -> str:
        """Return the text as it is shown where secrets are covered, also those that the tool's schema declares."""
        redact = Redactor()
        redact.value(dict(question.arguments), question.tool.protocol.input_schema)
        return self._cover(redact(text))


def _hint(question: Question, *, unallowed: bool) -> str:
    """Return what else lets a call through besides the options that are told of."""
    tool = quote_name(question.tool.alias)
    binding = question.tool.protocol.binding
    only = [one.rules[0] for one in question.tainted if len(one.rules) > 1]
    hint = (
        f" (every value of that field; for this one alone: --trust {only[0]})"
        if len(only) == 1
        else ""
    )
    if (
        unallowed
        and isinstance(binding, McpBinding)
        and (server := quote_name(binding.server)) == binding.server
    ):
        hint += f". If the MCP server {server!r} says that {tool} only reads, believe it with"
        hint += f" --trust-annotations, or trusted = true under [mcp.{server}] in your settings"
    return hint


def _where(held: Sequence[PastQuestion], state: str) -> str:
    """` in run RUN`, the latest one that is still there."""
    run = next((one.run for one in held if one.state == state and one.run), "")
    return f" in run {run}" if run else ""
