"""Consent: before each call of a tool, check if it may be sent or a person must allow it first.

A person must allow a call that writes (it may change something or send a message), unless an option
allows its tool. A person must also allow a call with tainted values, that is, values that may come
from another source than the user (see `atc.safety.taint`). Finally, a person must allow a call that
is "held", that is, a call that a person declined earlier, or about which a gateway asked a person
without getting an answer.
"""

from __future__ import annotations

import shlex
import threading
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial

from atc.core.config import Config
from atc.core.program import Program
from atc.core.quoting import quote_name, safe_shell_argument
from atc.core.types import SkippedQuestion
from atc.safety.held_calls import HeldCalls
from atc.safety.pause_text import describe_problems, hint_further
from atc.safety.questions import MOST_DECIDING, AskPerson, Question, is_readable, most_beside
from atc.safety.redaction import Redactor
from atc.safety.remedies import Remedies
from atc.safety.taint import Taint, TaintedValue
from atc.safety.taint.trusted import find_named_tool
from atc.safety.unattended import ConsentMode
from atc.store.questions import PastQuestion
from atc.store.stored import StoredRun
from protocols.errors import AtcError, ToolError
from protocols.schema import Json, JsonObject
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.base import CallDeclined, Paused
from sandbox.journal import Journal
from sandbox.limits import waiting_on_person
from sandbox.write_verification import sorted_json

_MOST_LISTED = 20
"""Maximum number of further calls in one question."""


class Consent:
    """The consent check of one run.

    The attribute `toolbox` contains the run's tools. Each of them performs this check before a call
    is sent.

    A call that writes is sent if `config.allow_writes` contains the name of its tool or `all`, or
    if `ask_person` returns True. A call with tainted values, or one that is held, always requires a
    person's yes, even if its tool only reads. A yes allows each call of its question once.

    If there is no person to ask, or the person says no, the call is not sent and the run pauses.
    The message says how to continue: with a command, or with a method of the agent if `in_shell` is
    False. This is left out if `agent` is True, because then an agent reads the message and could
    execute it. It is also left out if it contains a secret that `cover` redacts.

    If `mode` is `none`, there is no person: a call that would require a yes is sent, and listed in
    `skipped`. A call that is held is not sent even then.

    The values in `given`, the arguments that the user gave to a program, need no consent as a
    whole.

    If a run is resumed (`past`), the options with which it was started apply only to the tools that
    it had then. `before_write` is called before each write. It may raise `Paused`, too.

    Raises:
        InvalidConfig: a rule of `config.trust` is malformed, or a name in it or in `allow_writes`
            belongs to several tools.
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
        given: Json = None,
        past: StoredRun | None = None,
        before_write: Callable[[Tool, JsonObject], None] | None = None,
        mode: ConsentMode = "ask",
        agent: bool = False,
        in_shell: bool = True,
        cover: Callable[[str], str] = str,
    ) -> None:
        self.mode = mode
        self.skipped: list[SkippedQuestion] = []
        """The questions that were left out because `mode` is `none`."""
        self._tools = tools
        self._ask_person = ask_person
        self._before_write = before_write
        self._remedies = Remedies(run=journal.run, in_shell=in_shell)
        self._held = held
        self._agent = agent
        self._cover = cover
        self._program = ""
        self._listed: set[str] = set()
        self._agreed: set[str] = set()
        self._taint = Taint(
            task, tools, rules=config.trust, calls=journal.completed_calls, given=given
        )
        self._lock = threading.Lock()  # one question at a time; its answer may answer the next
        self._allowed = self._resolve_aliases(config.allow_writes)
        self._new_options = list[str]()
        if past is not None and (known := past.summary.identities):
            new = {key: _added_since(past, config, key) for key in ("allow_writes", "trust")}
            added = self._resolve_aliases(new["allow_writes"])
            self._allowed = (self._allowed & known.keys()) | added
            self._new_options = [
                f"--{key.replace('_', '-')} {shlex.quote(one)}" for key in new for one in new[key]
            ]
        self.toolbox = tools.map(lambda tool: replace(tool, admit=partial(self._admit, tool)))

    def _resolve_aliases(self, names: Collection[str]) -> frozenset[str]:
        """Return the aliases of the tools that are named in `names`, values of `allow_writes`."""
        if "all" in names:
            return frozenset(self._tools)
        found = [find_named_tool(name, self._tools, setting="allow_writes") for name in names]
        return frozenset(tool.alias for tool in found if tool is not None)

    @property
    def ambiguous_rules(self) -> Sequence[str]:
        """Sentences about the rules of `trust` that allow nothing; see `Taint`."""
        return self._taint.ambiguous_rules

    def accept_arguments(self, tool: Tool, arguments: JsonObject) -> None:
        """Record that a person typed these arguments, so that their values need no consent.

        `arguments` are keyed by their original names, which the tool's document uses.
        """
        self._taint.agree(tool, self._taint.find_tainted(tool, arguments))

    def begin_program(self, program: Program, *, blind: bool) -> None:
        """Prepare for the next program.

        `blind` is True if the model had seen no tool output when it wrote the program.
        """
        self._program = program.source
        self._held.refresh()
        self._taint.begin_program(program, blind=blind)

    def _admit(self, tool: Tool, arguments: JsonObject) -> None:
        """Return without a result if the call may be sent, and raise an exception otherwise.

        If the check itself fails with an unexpected error, the run pauses.
        """
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
        """Ask a person whether the call may be sent, unless it needs no consent."""
        if self._before_write is not None and tool.protocol.writes:
            self._before_write(tool, arguments)
        tool.check(arguments)  # nobody is asked about a call that cannot be sent
        with self._lock:
            tainted = self._taint.find_tainted(tool, arguments)
            unallowed = tool.protocol.writes and tool.alias not in self._allowed
            held = self._find_holds(tool, arguments, tainted)
            if not (unallowed or tainted or held):
                return
            declined = any(one.state == "declined" for one in held)
            question = Question(tool=tool, arguments=arguments, tainted=tainted, declined=declined)
            if self.mode == "none" and not held:
                self._skip(question, unallowed=unallowed)
            elif held or not self._was_listed(question):
                self._ask(question, held=held, unallowed=unallowed)

    def _skip(self, question: Question, *, unallowed: bool) -> None:
        """Record that a call is sent without asking a person about it."""
        why = "; ".join(describe_problems(question, unallowed=unallowed))
        alias = question.tool.alias
        self.skipped.append(SkippedQuestion(tool=alias, arguments=question.arguments, why=why))

    def _find_holds(
        self, tool: Tool, arguments: JsonObject, tainted: Sequence[TaintedValue]
    ) -> list[PastQuestion]:
        """Return the earlier questions that hold the call, so that only a person can allow it.

        The result is empty if no question holds it. If the person who started the gateway allowed
        the call's tool, this answers open questions with yes, and the result is empty, too. Such an
        answer does not count if the call was declined or has tainted values.
        """
        may_ask = tool.protocol.writes or self._taint.has_sensitive_values(tool, arguments)
        find = self._held.about if may_ask else self._held.about_read
        held = find(tool, arguments)
        if not held or tainted or any(one.state == "declined" for one in held):
            return held
        if not self._held.is_served or tool.alias not in self._allowed:
            return held
        self._held.allow(tool, [arguments], everywhere=True)
        return []

    def _was_listed(self, question: Question) -> bool:
        """Return True if a person has already allowed exactly this call, as one of several.

        An earlier question listed the call together with similar ones. The yes counts only once:
        for the next such call, the result is False.
        """
        exactly = self._exact_key(question.tool, question.arguments, question.tainted)
        known = exactly in self._agreed
        self._agreed.discard(exactly)
        return known

    def _ask(self, question: Question, *, held: Sequence[PastQuestion], unallowed: bool) -> None:
        """Ask a person about a call, and return if the person allows it.

        `held` are the earlier questions because of which only a person can allow the call.
        `unallowed` is True if the call writes and no option allows its tool.

        Raises:
            CallDeclined: a person said no, now or earlier in this run.
            Paused: there was no decision.
        """
        tool = question.tool
        exactly = self._exact_key(question.tool, question.arguments, question.tainted)
        self._listed.add(exactly)
        others = self._find_similar_calls(question)
        listed = [question.arguments, *(other.arguments for other in others.values())]
        asked = self._held.ask(tool, listed, exactly=sorted_json([exactly, *others]))
        question = replace(question, others=tuple(others.values()), id=asked)
        decision = None
        if self._ask_person is not None and self.mode == "ask" and is_readable(question):
            with waiting_on_person():  # this time does not count against the program's limit
                decision = self._ask_person(question)
        if decision is True:
            self._held.allow(tool, listed)
            self._agreed.update(others)
            return
        if decision is False:
            self._held.decline(tool, listed)
            name = quote_name(tool.alias)
            problem = f"{name}: a person said no to this call, so it is declined"
            raise CallDeclined(self._refusal(problem))
        # Any other answer is no decision.
        raise self._stop_undecided(question, held, unallowed=unallowed)

    def _stop_undecided(
        self, question: Question, held: Sequence[PastQuestion], *, unallowed: bool
    ) -> Paused:
        """Return the exception for a call about which a person was asked and has not decided.

        It is `CallDeclined` if a person said no earlier in this run, else `Paused`.
        """
        tool = quote_name(question.tool.alias)
        if question.declined:
            problem = f"{tool}: a person has declined this call{_where(held, 'declined')}"
            here = any((one.run, one.state) == (self._held.run, "declined") for one in held)
            return (CallDeclined if here else Paused)(self._refusal(problem))
        if held and not self._agent:
            problem = f"{tool}: a gateway left this call to a person{_where(held, 'open')}"
            return Paused(self._refusal(problem))
        return Paused(self._message(question, held, unallowed=unallowed))

    def _find_similar_calls(self, question: Question) -> dict[str, Question]:
        """Return similar calls about which the same question can ask, keyed by `_exact_key`.

        If the call's tainted values are those of an item of a list in a response, the program
        probably makes the same call with each other item. These calls are returned, except those
        that earlier questions listed, that a person declined, or that only a person can allow
        because of other runs.
        """
        if not question.tainted or not is_readable(question):
            return {}
        tool = question.tool
        places = [one.place for one in question.tainted]
        found: dict[str, Question] = {}
        most = min(_MOST_LISTED, most_beside(question))
        for arguments in self._taint.sibling_arguments(question.tainted, question.arguments):
            if len(found) == most:
                break
            tainted = self._taint.find_tainted(tool, arguments)
            exactly = self._exact_key(tool, arguments, tainted)
            if [one.place for one in tainted] != places or exactly in self._listed:
                continue
            if not self._is_held_elsewhere(tool, arguments):
                found[exactly] = replace(
                    question, arguments=arguments, tainted=tainted, declined=False
                )
        self._listed.update(found)
        return found

    def _is_held_elsewhere(self, tool: Tool, arguments: JsonObject) -> bool:
        """Return True if only a person can allow the call, for one of two reasons.

        Either a question about it in another run holds the call, or a person declined it in this
        run.
        """
        own = (self._held.run, "open")
        return any((one.run, one.state) != own for one in self._held.about(tool, arguments))

    def _exact_key(self, tool: Tool, arguments: JsonObject, tainted: Sequence[TaintedValue]) -> str:
        """Return a text that identifies a call, its program and its tainted values.

        A person's yes applies only to calls with the same text.
        """
        doubts = [f"{one.place} = {one.value!r}" for one in tainted]
        return sorted_json([self._program, tool.identity, dict(arguments), doubts])

    def _refusal(self, problem: str) -> str:
        """Return the message that a call is not sent because a person must decide.

        `problem` says why. The message also says what to do next.
        """
        if self._agent:
            return (
                f"{problem}; nothing was sent. Only a person can allow it: do not send it again"
                " unless one asks for it."
            )
        way = self._remedies.decide("To decide anew")
        return f"{problem}; nothing was sent, and no option sends it. {way}"

    def _message(self, question: Question, held: Sequence[PastQuestion], *, unallowed: bool) -> str:
        """Return a message: which call was not sent and why, and which command allows it."""
        problems = describe_problems(question, unallowed=unallowed)
        if not problems:
            tool = quote_name(question.tool.alias)
            problems.append(f"{tool}: a gateway left this call to a person{_where(held, 'open')}")
        message = f"{'; '.join(problems)}; nothing was sent."
        options = self._options(question, unallowed=unallowed)
        if not is_readable(question):
            message += (
                f" Nobody is asked about a call with more than {MOST_DECIDING} values: send fewer"
                " at once."
            )
            if options is None or self._agent:
                return message
        if self._agent:
            return f"{message} A person must decide, in the client's dialog or on a terminal"
        if options is None:
            return f"{message} {self._remedies.decide('To see it whole and decide')}"
        hint = hint_further(question, self._tools, unallowed=unallowed)
        return f"{message} {self._remedies.allow(options)}{hint}"

    def _options(self, question: Question, *, unallowed: bool) -> list[str] | None:
        """Return the command-line options that allow a call, quoted for a shell.

        The result is None if no option allows the call, or if one contains a secret or cannot be
        quoted safely.
        """
        name = safe_shell_argument(self._tools.shortest_name(question.tool))
        if (unallowed and name is None) or not all(one.rules for one in question.tainted):
            return None
        rules = list(dict.fromkeys(one.rules[-1] for one in question.tainted))
        every = [rule for one in question.tainted for rule in one.rules]
        if any(self._redact_text(question, rule) != rule for rule in every):
            return None
        allowed = [f"--allow-writes {name}"] if unallowed else []
        return [*self._new_options, *allowed, *(f"--trust {rule}" for rule in rules)]

    def _redact_text(self, question: Question, text: str) -> str:
        """Return a text for display, in which secrets are redacted.

        Arguments that the tool's schema declares to be secrets are redacted, too.
        """
        redact = Redactor()
        redact.value(dict(question.arguments), question.tool.protocol.input_schema)
        return self._cover(redact(text))


def _added_since(past: StoredRun, config: Config, key: str) -> Counter[str]:
    """Return the values of the setting `key` that were added after the run `past` was started."""
    before = Counter(map(str, past.summary.config.get(key) or ()))
    return Counter(getattr(config, key)) - before


def _where(held: Sequence[PastQuestion], state: str) -> str:
    """Return ` in run RUN` for a message about a held call.

    RUN is the latest run that has a question in this state. The result is empty without such a run.
    """
    run = next((one.run for one in held if one.state == state and one.run), "")
    return f" in run {run}" if run else ""
