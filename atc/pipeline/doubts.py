"""Doubts about an answer of a program that did not fail. They need no model.

A doubtful answer is not a failure: the model gets the doubts once. It confirms the answer or writes
a better program. An answer that it did not confirm is kept, too, but the run is then `unsure`. Each
doubt looks at a limited part of what it reads, because programs, answers and tasks may be hostile.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import islice

from atc.core.answers import parse_answer
from atc.core.json_paths import walk_responses
from atc.core.program import Program
from atc.pipeline.autofix.paging import unread_pages
from atc.pipeline.fixed_choices import find_fixed_choices
from atc.pipeline.ignored_conditions import (
    ProgramText,
    find_ignored_fields,
    find_unused_codes,
    find_unused_numbers,
)
from atc.pipeline.missing_steps import find_missing_steps
from atc.pipeline.slips import find_unit_slip, is_share_for_percent
from atc.pipeline.unmatched_filters import find_unmatched_filters, find_vain_comparisons
from atc.pipeline.unused_names import find_unused_names
from atc.pipeline.unused_values import find_dropped_results, find_unused_variables
from atc.pipeline.written_dates import find_unused_dates, find_unused_times
from protocols.toolbox import Toolbox
from sandbox.trace import Trace
from sandbox.write_verification import sorted_json

_LONGEST_TASK = 4_000
"""Number of characters of a task in which conditions are looked for."""
_LONGEST_VALUE = 40
"""Maximum length of an answer that may say nothing, such as `None` or `0.0 %`."""
_LONGEST_READ = 4_000
"""Number of characters of an answer in which the text of an unfinished value is looked for."""
_LONGEST_RECORDS = 100_000
"""Maximum length of an answer that is compared with the records of responses."""
_NOTHING = re.compile(r"^\W*(none|nan|inf|-inf|null|\[\s*\]|\{\s*\}|\(\s*\))\W*$", re.IGNORECASE)
_ZERO = re.compile(r"^\W*0+(?:\.0+)?\W*$")
_UNFINISHED = re.compile(r"<[^\n]{1,200} at 0x[0-9a-f]+>")
"""The text that Python prints for a coroutine, generator, `map` or function: no value yet."""
_ALLOWED = re.compile(
    r"\bnone\b(?! of\b)|\bnothing\b|\bnull\b|\bn/a\b|\bnobody\b|\bno one\b"
    r"|\bempty (?:list|text|string)\b|\bif any\b|\bif there(?: is|'s| are| was| were|n't)",
    re.IGNORECASE,
)
"""Phrases with which a task allows an empty answer, such as "or none" and "if there is none"."""


def doubts(
    task: str,
    program: Program,
    trace: Trace,
    answer: str,
    tools: Toolbox,
    *,
    rules: str = "",
    earlier: str = "",
) -> tuple[str, ...]:
    """Return sentences for the model that say why `answer` is doubtful; empty if it is not.

    `rules` are the rules that the program must follow, or "". With rules, an answer that is a
    constant sentence of the program is not doubted, because a rule may demand a refusal. `earlier`
    are the tasks that this one follows, or "". Values in the rules and in earlier tasks are not
    guessed, but the program need not use them.
    """
    answer = answer.strip()
    task = task[:_LONGEST_TASK]
    nodes = list(ast.walk(program.tree))
    return (
        *_doubt_empty_answer(f"{task}\n{rules}", program, trace, answer, tools),
        *(() if rules else _doubt_constant(task, nodes, answer)),
        *_doubt_form(task, trace, answer),
        *_doubt_first_page(task, program, trace, tools),
        *_doubt_failed_calls(trace),
        *_doubt_slips(task, program, trace, answer, tools),
        *_doubt_conditions(task, ProgramText(program.source, program.tree, trace.calls), tools),
        *_doubt_names(task, program, trace, tools),
        *_doubt_filters(f"{task}\n{rules}\n{earlier}", program, trace, tools),
        *_doubt_steps(task, program, trace, answer, tools),
    )


def _doubt_empty_answer(
    task: str, program: Program, trace: Trace, answer: str, tools: Toolbox
) -> Iterator[str]:
    """Yield doubts about an answer that is empty or zero.

    A program that names a writing tool may have found that there was nothing to change; then None
    is what it has to answer.
    """
    may_write = any(name in tools and tools[name].protocol.writes for name in program.names)
    is_empty = says_nothing(answer) and not may_write and not _ALLOWED.search(task)
    if is_empty:
        yield (
            f"It printed {answer!r}: look at what the functions returned and find out why there"
            " was nothing."
        )
    is_zero = len(answer) <= _LONGEST_VALUE and _ZERO.match(answer)
    if trace.calls and (is_empty or is_zero):
        yield from islice(find_vain_comparisons(program, trace, answer), 1)


def _doubt_constant(task: str, nodes: list[ast.AST], answer: str) -> Iterator[str]:
    """Yield a doubt about an answer that is a constant text of the program."""
    # A constant sentence of the program ("No plane found") contains nothing that a call returned.
    constants = [node.value for node in nodes if isinstance(node, ast.Constant)]
    texts = {value.strip() for value in constants if isinstance(value, str)}
    is_allowed = answer in task or _ALLOWED.search(task)
    is_text = isinstance(parse_answer(answer), str)
    if " " in answer and is_text and answer in texts and not is_allowed:
        yield (
            f"It printed {answer!r}, a text of its own that holds nothing of what the functions"
            " returned."
        )


def _doubt_form(task: str, trace: Trace, answer: str) -> Iterator[str]:
    """Yield doubts about an answer that is an unfinished value or a record."""
    unfinished = _UNFINISHED.search(answer[:_LONGEST_READ])
    if unfinished is not None:
        yield (
            f"It printed {unfinished[0]!r}, which holds no value yet: call a function, run a"
            " coroutine with asyncio.run(…), or make a list of a generator or map."
        )
    if task and "json" not in task.casefold() and _is_whole_record(answer, trace):
        yield "It printed a whole record: print only the value that the task asks for."


def _is_whole_record(answer: str, trace: Trace) -> bool:
    """Return True if the answer is an object of a response, or a list of such objects.

    False for an object that the program itself has built, because this is a proper answer.
    """
    if len(answer) > _LONGEST_RECORDS:
        return False
    value = parse_answer(answer)
    values = value if isinstance(value, list) else [value]
    records = [record for record in values if isinstance(record, dict)]
    if not records or len(records) < len(values):
        return False
    wanted = set(map(sorted_json, records))
    for _, _, inner in walk_responses(trace.calls):
        if isinstance(inner, dict) and len(inner) == len(records[0]):
            wanted.discard(sorted_json(inner))
    return not wanted


def _doubt_first_page(task: str, program: Program, trace: Trace, tools: Toolbox) -> Iterator[str]:
    """Yield a doubt about a tool whose result has more pages than the program read."""
    for unread in unread_pages(program, trace, tools, task=task)[:1]:
        more = f"{unread.tool} has more results than the program read ({unread.evidence})"
        if unread.why:
            yield (
                f"{more}, and the next page was not read: {unread.why}. Narrow the call, or say in"
                " the answer that it covers only the first rows."
            )
        elif unread.larger is not None:
            yield f"{more}: unless the first ones are enough, ask for more with {unread.larger[0]}."
        else:
            yield (
                f"{more}: unless the first ones are enough for the task, read all with"
                f" `for page in pages({unread.tool}, …)`."
            )


def _doubt_failed_calls(trace: Trace) -> Iterator[str]:
    """Yield a doubt if all calls of the program failed, although it gave an answer."""
    failed = [call for call in trace.calls if call.error is not None]
    if failed and len(failed) == len(trace.calls):
        last = failed[-1]
        yield f"Every call failed and the program went on: {last.tool} said {last.error!r}."


def _doubt_conditions(task: str, text: ProgramText, tools: Toolbox) -> Iterator[str]:
    """Yield doubts about conditions of the task that the program seems to ignore.

    One doubt names the codes and numbers that occur in the task but not in the program. Another
    names a field that the program does not read, although the task contains one of its values. For
    example, the task says "in Berlin", and the program does not read the field `city`.
    """
    unused = [
        *find_unused_codes(task, text, tools),
        *find_unused_numbers(task, text, tools),
        *find_unused_dates(task, text.used, text.results),
        *find_unused_times(task, text.used),
    ]
    if unused:
        yield (
            f"The task speaks of {', '.join(unused)}, which the program does not use: it may leave"
            " out a condition."
        )
    for ignored in find_ignored_fields(task, text)[:1]:
        yield (
            f"The task speaks of {ignored.value}. What {ignored.tool} returned has this and other"
            f" values under {ignored.key!r}, which the program does not read: it may leave out a"
            " condition."
        )


def _doubt_names(task: str, program: Program, trace: Trace, tools: Toolbox) -> Iterator[str]:
    """Yield a doubt about names of the task that the program does not use in any form."""
    unused = find_unused_names(task, program, trace.calls, tools)
    if unused is None:
        return
    arguments = " and ".join(map(repr, unused.arguments))
    takes = f" {unused.tool} takes {arguments}." if unused.tool else ""
    yield (
        f"The task speaks of {', '.join(unused.names)}, which neither the program nor what the"
        f" functions returned contains: it may leave out a condition.{takes}"
    )


def _doubt_filters(known: str, program: Program, trace: Trace, tools: Toolbox) -> Iterator[str]:
    """Yield doubts about guessed filters, and about a guessed part of a period.

    `known` is the text whose values are not guessed: the task, its rules and earlier tasks.
    """
    for one in find_unmatched_filters(known, program, trace.calls, tools)[:1]:
        yield (
            f"Line {one.line} compares {one.key!r} with {one.text!r}, which neither the task nor"
            " what the functions returned nor their documentation contains: look at the values"
            " that there are."
        )
    for choice in find_fixed_choices(known, program, trace.calls, tools)[:1]:
        yield (
            f"{choice.tool} is called only with {choice.argument}={choice.value!r}, which the task"
            f" does not give: call it for each {choice.argument!r}, {choice.least!r} to"
            f" {choice.greatest!r}, unless one is enough."
        )


def _doubt_steps(
    task: str, program: Program, trace: Trace, answer: str, tools: Toolbox
) -> Iterator[str]:
    """Yield a doubt about a step that the words of the task ask for and nothing takes."""
    for one in find_missing_steps(task, program, trace.calls, answer, tools)[:1]:
        yield f"The task says {one.word!r}, but nothing in the program {one.step}."


def _doubt_slips(
    task: str, program: Program, trace: Trace, answer: str, tools: Toolbox
) -> Iterator[str]:
    """Yield doubts about computed values that the program never uses, and about wrong units."""
    for name, line in find_unused_variables(program.tree)[:1]:
        yield f"Line {line} computes {name!r}, which is never used: does it belong to the answer?"
    for name, line in find_dropped_results(program.tree, tools)[:1]:
        yield f"Line {line} calls {name} and uses nothing of what it returned."
    keys = dict.fromkeys(path[-1] for _, path, _ in walk_responses(trace.calls) if path)
    named = [key for key in keys if isinstance(key, str)]
    wrapped = {tools[call.tool].wrapper for call in trace.calls if call.tool in tools}
    if slip := find_unit_slip(task, program.tree, named, [key for key in wrapped if key]):
        yield slip
    if is_share_for_percent(task, program.source, answer):
        yield f"The task asks for percent, but {answer} is a share of 1."


def says_nothing(answer: str) -> bool:
    """Return True if an answer is an empty value: `None`, `[]`, `nan`."""
    return len(answer) <= _LONGEST_VALUE and _NOTHING.match(answer) is not None
