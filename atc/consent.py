"""Who may write, and with which values: a gate before every call that can change something or tell somebody."""

from __future__ import annotations

import shlex
import threading
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial

from atc.config import Config
from atc.questions import MOST_DECIDING, AskPerson, Question
from atc.quoting import command, named, typed
from atc.store.stored import StoredRun
from atc.taint import Taint
from atc.taint.clean import tool_named
from atc.types import Program
from protocols.protocol import McpBinding
from protocols.schema import JsonObject
from protocols.toolbox import Tool, Toolbox
from sandbox.base import Paused
from sandbox.journal import Journal
from sandbox.limits import waiting_on_person

_MOST_NAMED = 3
"""Values that a message names one by one."""


class Consent:
    """The gate of one run.

    A call that writes goes through when `config.allow_writes` names its tool and no other (or has `all`), or when
    `ask_person` says yes. Any call asks where a value of a sensitive argument is not known to be clean
    (`atc.taint`), whatever is allowed; a yes holds for that value of that argument in the rest of the run. With nobody
    to ask, or after a no, the call is not sent and the run pauses; the message says how to go on.

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
        past: StoredRun | None = None,
        before_write: Callable[[Tool, JsonObject], None] | None = None,
    ) -> None:
        self._tools, self._ask_person, self._before_write = tools, ask_person, before_write
        self._resume = command("atc", "runs", "resume", journal.run) or "" if journal.run is not None else ""
        self._taint = Taint(task, tools, rules=config.trust, calls=journal.completed)
        self._lock = threading.Lock()  # one question at a time; its answer may answer the next
        self._allowed, self._again = self._meant(config.allow_writes), list[str]()
        if past is not None and (known := past.summary.identities):
            kept = {key: Counter(map(str, past.summary.config.get(key) or ())) for key in ("allow_writes", "trust")}
            new = {key: Counter(getattr(config, key)) - before for key, before in kept.items()}
            self._allowed = (self._allowed & known.keys()) | self._meant(new["allow_writes"])
            self._again = [f"--{key.replace('_', '-')} {shlex.quote(one)}" for key in new for one in new[key]]
        self.toolbox = tools.map(lambda tool: replace(tool, admit=partial(self._admit, tool)))

    def _meant(self, names: Collection[str]) -> frozenset[str]:
        """Aliases of the tools that `names` allow."""
        if "all" in names:
            return frozenset(self._tools)
        found = [tool_named(name, self._tools, setting="allow_writes") for name in names]
        return frozenset(tool.alias for tool in found if tool is not None)

    def given(self, tool: Tool, arguments: JsonObject) -> None:
        """A person gave these arguments themselves, by original name: their values are not asked about."""
        self._taint.agree(tool, self._taint.of(tool, arguments))

    def wrote(self, program: Program, *, blind: bool) -> None:
        """A program is about to run. `blind`: it was written before the model had seen any output of a tool."""
        self._taint.wrote(program.source, blind=blind)

    def _admit(self, tool: Tool, arguments: JsonObject) -> None:
        if self._before_write is not None and tool.protocol.writes:
            self._before_write(tool, arguments)
        tool.check(arguments)  # nobody is asked about what cannot be sent
        with self._lock:
            question = Question(tool=tool, arguments=arguments, tainted=self._taint.of(tool, arguments))
            unallowed = tool.protocol.writes and tool.alias not in self._allowed
            if not (unallowed or question.tainted):
                return
            agreed = False
            if self._ask_person is not None and len(question.tainted) <= MOST_DECIDING:
                with waiting_on_person():  # a person may take longer than a program may run
                    agreed = self._ask_person(question)
            if not agreed:
                raise Paused(self._message(question, unallowed=unallowed))
            self._taint.agree(tool, question.tainted)

    def _message(self, question: Question, *, unallowed: bool) -> str:
        """Return what was not sent and why, and the command that allows it."""
        tool, tainted = named(question.tool.alias), question.tainted
        problems = [f"{tool} may change something and was not allowed"] if unallowed else []
        problems += [f"{tool}: {one}" for one in tainted[:_MOST_NAMED]]
        if len(tainted) > _MOST_NAMED:
            problems.append(f"{len(tainted) - _MOST_NAMED:,} more of its values are like that")
        told = f"{'; '.join(problems)}; nothing was sent."
        options = self._options(question, unallowed=unallowed)
        if len(tainted) > MOST_DECIDING:
            told += f" Nobody is asked about more than {MOST_DECIDING} values of one call: send fewer at once."
            if options is None:
                return told
        if options is None:  # no command could be read and typed safely
            return f"{told} To see it whole and decide, run this on a terminal: {self._resume or 'the task again'}"
        only = [one.rules[0] for one in tainted if len(one.rules) > 1]
        hint = f" (every value of that field; for this one alone: --trust {only[0]})" if len(only) == 1 else ""
        binding = question.tool.protocol.binding
        if unallowed and isinstance(binding, McpBinding) and (server := named(binding.server)) == binding.server:
            hint += f". If the MCP server {server!r} says that {tool} only reads, believe it with"
            hint += f" --trust-annotations, or trusted = true under [mcp.{server}] in your settings"
        return f"{told} Allow it with{f': {self._resume}' if self._resume else ''} {' '.join(options)}{hint}"

    def _options(self, question: Question, *, unallowed: bool) -> list[str] | None:
        """Return the options that allow a call, quoted for a shell; None if one of them must not be typed."""
        name = typed(self._tools.spelling(question.tool))
        if (unallowed and name is None) or not all(one.rules for one in question.tainted):
            return None
        allowed = [f"--allow-writes {name}"] if unallowed else []
        return [*self._again, *allowed, *dict.fromkeys(f"--trust {one.rules[-1]}" for one in question.tainted)]
