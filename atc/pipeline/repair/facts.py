"""The way of repair that shows the model facts.

They are what attribution found, what the responses contain, and corrected lines of the program.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from atc.core.messages import format_tool_call, snippet
from atc.core.prompts import fill
from atc.core.types import Attempt, Fact, Fault
from atc.pipeline.attribute import find_origins
from atc.pipeline.autofix import autofix
from atc.pipeline.autofix.lookups import search_for
from atc.pipeline.guessed_links import drop_contradicted_links, find_proposable
from atc.pipeline.repair.open_effects import ask_whether_refused, raised_writes
from atc.pipeline.repair.responses import (
    describe_call,
    documentation,
    escape_fences,
    format_results,
    seen_fields,
    signature,
)
from atc.pipeline.repair.worked_calls import is_repeated, show_worked_call
from atc.pipeline.synthesize import Complete, is_described
from protocols.model import Message
from protocols.render import Docs
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from protocols.truncate import abridge_value
from sandbox.arguments import shorten
from sandbox.lost_writes import CONFIRMED
from sandbox.trace import ToolCall


@dataclass(frozen=True, slots=True)
class RepairCase:
    """A failed attempt with everything that the messages of a repair are built from."""

    attempt: Attempt
    tools: Toolbox
    complete: Complete | None = None
    """Asks the model a question during repair. Only `reflection` needs it."""
    orphans: Sequence[ToolCall] = ()
    """Writes that took effect.

    If the next program does not make these calls too, their effects remain although no program of
    the solution asked for them.
    """
    messages: Sequence[Message] = ()
    """The conversation so far."""
    docs: Docs = "full"
    """How prompts describe tools. If it is "names", they contain only the names."""
    earlier: Sequence[Attempt] = ()
    """The attempts before this one."""
    made: Sequence[ToolCall] = ()
    """The calls of all attempts so far."""
    takes_same: bool = False
    """True if the model may reply with the one word SAME to confirm a doubtful answer."""
    takes_lines: bool = False
    """True if the prompt offers to reply with single lines instead of the whole program."""

    @property
    def program_message(self) -> Message:
        """The failed program as a message of the model, as if the model had just written it.

        The program may contain automatic fixes.
        """
        source = self.attempt.program.source
        return Message("assistant", f"```python\n{source}```" if source.strip() else "(no program)")

    @property
    def refusal_question(self) -> str:
        """A question to the model about writes whose text the program raised, or "".

        The question is whether the writes changed anything.
        """
        return ask_whether_refused(raised_writes([self.attempt], self.tools))

    def rewrite(self, parts: Iterable[str]) -> Message:
        """Build the user message that asks for the whole program again.

        It shows the texts `parts`, without empty ones, then the writes that took effect. If
        `takes_lines` is True, the model may write single lines instead.
        """
        offers_lines = self.takes_lines and bool(self.attempt.program.source.strip())
        writes = (self.refusal_question, describe_writes(self.orphans))
        offer = fill("repair_lines") if offers_lines else ""
        shown = [part.strip("\n") for part in (*parts, *writes, offer)]
        fault = self.attempt.fault
        asks = "repair_retry" if fault is not None and fault.cure == "retry" else "repair"
        return Message("user", fill(asks, told="\n\n".join(part for part in shown if part)))


_FIRST_WRITES = 20
_LAST_WRITES = 10
"""Maximum number of writes that are listed from the beginning and from the end of a run."""


def describe_writes(made: Sequence[ToolCall]) -> str:
    """Return a text that lists the calls which changed something, or "" without such calls.

    The text explains how the next program must treat them: it may keep such a call, which is then
    not made again, but gets the result that the journal of the run has stored. Of many calls only
    the first and the last ones are listed; the others are counted.
    """
    if not made:
        return ""
    between = made[_FIRST_WRITES : max(_FIRST_WRITES, len(made) - _LAST_WRITES)]
    last = made[_FIRST_WRITES + len(between) :]
    counts = Counter(call.tool for call in between)
    more = [f"- … and {number} more of {tool}" for tool, number in counts.items()]
    lines = [*map(_describe_write, made[:_FIRST_WRITES]), *more, *map(_describe_write, last)]
    return fill("repair_writes", calls="\n".join(lines))


def _describe_write(call: ToolCall) -> str:
    """Return a line about one call that changed something, with its result if it is known."""
    if call.outcome == "unknown":
        return f"- {format_tool_call(call)}, of which nobody knows whether it took effect"
    if call.note == CONFIRMED:
        return f"- {format_tool_call(call)} gave null: its answer was lost, but it took effect"
    return f"- {format_tool_call(call)} gave {snippet(call.result)}"


_LONGEST_LOOK = 6_000
"""Maximum number of characters of all values together that a program looked at."""


def describe_looked(attempt: Attempt) -> str:
    """Return a text that shows the values which the program passed to `look`, or "" without any."""
    looked = () if attempt.trace is None else attempt.trace.looked
    if not looked:
        return ""
    each = _LONGEST_LOOK // len(looked)
    shown = [abridge_value(value, most=each) for value in looked]
    return fill("look", looked=escape_fences("\n".join(shown)))


# --- description of a failure

_MOST_FINDINGS = 5
_MOST_FACTS = 8
_LONGEST_FACT = 400
_MOST_TOOLS = 2

_NO_PROGRAM = (
    "That reply held no Python program. The functions are defined already: do not define them."
    " Write the program that calls them and prints the answer."
)


def facts(case: RepairCase) -> list[Message]:
    """Build the two messages of a repair: the failed program, and the facts about its failure.

    If the same fault has occurred before, the facts did not help. The message then shows a working
    call instead, if there was one.
    """
    fault = case.attempt.fault
    assert fault is not None
    if not case.attempt.program.source.strip():
        return [case.program_message, case.rewrite([_NO_PROGRAM])]
    calls = (*case.made, *case.attempt.calls)
    case = replace(case, tools=drop_contradicted_links(case.tools, calls))
    if is_repeated(case.attempt, case.earlier):
        example = show_worked_call(fault, calls, case.tools)
        if example:
            told = fill("repair_again", message=fault.message, example=example)
            return [case.program_message, case.rewrite([told])]
    call = next((made for made in case.attempt.calls if made.index == fault.call), None)
    lines = list(better_lines(case)) or list(sources(case, fault, call))
    known = "\n".join([*_describe_failure(case, fault), *lines])
    return [
        case.program_message,
        case.rewrite(
            [
                known,
                describe_looked(case.attempt),
                "\n".join(_describe_blamed_tools(case, fault, call)),
                _describe_other_results(case, fault),
            ]
        ),
    ]


def _describe_failure(case: RepairCase, fault: Fault) -> Iterator[str]:
    """Yield lines that say what is wrong with the program.

    These are the findings of the check or, if the program was executed, the facts about its
    failure.
    """
    program = case.attempt.program
    findings = case.attempt.findings
    if findings:
        yield "That program was checked and not run, since it cannot work:"
        quoted = set[int]()
        for finding in findings[:_MOST_FINDINGS]:
            meant = finding.suggestion
            perhaps = f" Perhaps {meant}." if meant and meant not in finding.message else ""
            line = "" if finding.line in quoted else f", `{program.line(finding.line)}`"
            quoted.add(finding.line)
            yield f"- Line {finding.line}{line}: {finding.message}{perhaps}"
        if len(findings) > _MOST_FINDINGS:
            yield f"- … and {len(findings) - _MOST_FINDINGS} more"
        return
    yield f"That program failed. {fault.message}"
    facts = [fact.text for fact in fault.evidence if not _is_in(fault.message, fact)]
    line = program.line(fault.line)
    if line and not any(line in fact for fact in facts):
        yield f"Line {fault.line} is `{line}`."
    yield from (f"- {shorten(fact, _LONGEST_FACT)}" for fact in facts[:_MOST_FACTS])


def _is_in(message: str, fact: Fact) -> bool:
    """Return True if a fault's message contains a fact already.

    A fact about keys has the form `PLACE: its keys are …`.
    """
    text = fact.text.removesuffix(".")
    keys = text.partition(": its keys are ")[2] if fact.kind == "keys" else ""
    return text in message or (bool(keys) and f"its keys are {keys}" in message)


def _describe_other_results(case: RepairCase, fault: Fault) -> str:
    """Return the results of calls that are not blamed, if the program may have misread them too.

    These are the calls of tools whose responses are not reliably described by a document. If no
    call is blamed, the results of all calls are returned.
    """
    if case.attempt.findings or case.docs == "names":
        return ""
    tools = (
        case.tools[call.tool]
        for call in case.made
        if call.tool in case.tools and call.tool != fault.tool
    )
    unblamed = fault.call is None and bool(case.attempt.calls)
    seen = {
        t.alias
        for t in tools
        if unblamed or t.protocol.evidence.level != "declared" or not is_described(t)
    }
    gave = format_results([c for c in case.made if c.tool in seen], case.tools)
    return f"The {'' if unblamed else 'other '}calls so far:\n{gave}" if gave else ""


def _describe_blamed_tools(case: RepairCase, fault: Fault, call: ToolCall | None) -> Iterator[str]:
    """Yield lines about the blamed tools: how each is called, and which fields its result has.

    If the setting `docs` allows only tool names in prompts, only the fields of an actual response
    are shown.
    """
    near = fault.path or ""
    program = case.attempt.program
    if case.docs == "names":
        if call is not None and call.error is None and call.tool in case.tools:
            yield ""
            yield from seen_fields(program, call, case.tools[call.tool], near=near)
        return
    for tool in _find_blamed_tools(case, fault, call):
        yield ""
        if fault.kind in ("bad_arguments", "tool_failed", "unknown_outcome"):
            # For a call that was made, the facts above already state what the argument at fault
            # accepts.
            is_known = call is not None and fault.path
            yield (
                describe_call(tool, program)
                if is_known
                else signature(tool, program, among=case.tools)
            )
            yield from (
                describe_call(maker, program) for maker in find_producers(tool, fault, case.tools)
            )
        elif call is not None and call.error is None:
            yield describe_call(tool, program)
            yield from seen_fields(program, call, tool, near=near)
        else:
            yield documentation(tool, program, among=case.tools)


def _find_blamed_tools(case: RepairCase, fault: Fault, call: ToolCall | None) -> list[Tool]:
    """Return the tools that a repair prompt should describe.

    This is the tool of the blamed call. If no call is blamed, these are the tools that the fault
    and the findings name, up to a maximum.
    """
    names = [fault.tool, *(finding.tool for finding in case.attempt.findings)]
    if call is not None:
        names = [call.tool]
    known = [name for name in dict.fromkeys(names) if name is not None and name in case.tools]
    return [case.tools[name] for name in known[:_MOST_TOOLS]]


_MOST_LINES = 6
_MOST_MAKERS = 2


def better_lines(case: RepairCase) -> Iterator[str]:
    """Yield ``Line 5 should be `…`.`` for each line that an automatic fix corrects.

    Yield nothing if the fix adds or removes lines.
    """
    program = case.attempt.program
    better = autofix(program, case.attempt.findings, case.tools)
    old = program.source.splitlines()
    new = better.source.splitlines() if better is not None else []
    changed = [
        (number, line)
        for number, (was, line) in enumerate(zip(old, new, strict=False), start=1)
        if was != line
    ]
    for number, line in changed[:_MOST_LINES] if len(old) == len(new) else ():
        yield f"Line {number} should be `{line.strip()}`."


def sources(case: RepairCase, fault: Fault, call: ToolCall | None) -> Iterator[str]:
    """Yield a line for each argument of a failed or empty call that may contain an invented id.

    A call is empty if its result is. An id may be invented if another tool returns such ids, but no
    earlier response contains this one. The line says how the other tool is called.
    """
    if (
        call is None
        or fault.kind not in ("bad_arguments", "empty_result")
        or call.tool not in case.tools
    ):
        return
    tool = case.tools[call.tool]
    before = [other for other in case.attempt.calls if other.index < call.index]
    for alias, value in call.arguments.items():
        found = find_proposable(case.tools, tool, tool.arguments.get(alias, alias))
        other = fault.path in call.arguments and alias != fault.path
        if (
            other
            or not found
            or isinstance(value, bool)
            or not isinstance(value, str | int)
            or find_origins(value, before)
        ):
            continue
        maker = found[0].tool
        needed = ", ".join(f"{name}=…" for name in maker.arguments if name in maker.required)
        searched = search_for(value, tool, alias, case.tools) if isinstance(value, str) else None
        made = searched or found[0].expression(arguments=needed)
        yield f"- {alias!r} of {call.tool} {found[0].perhaps}takes what `{made}` gives."


def find_producers(tool: Tool, fault: Fault, tools: Toolbox) -> list[Tool]:
    """Return the tools that produce values for the arguments of `tool`.

    If the fault concerns one argument, only this one is considered, otherwise all required ones.
    """
    wanted = (
        [fault.path]
        if fault.path in tool.arguments
        else [name for name in tool.arguments if name in tool.required]
    )
    found = [find_proposable(tools, tool, tool.arguments[alias or ""]) for alias in wanted]
    best = {producers[0].tool.alias: producers[0].tool for producers in found if producers}
    return [*best.values()][:_MOST_MAKERS]
