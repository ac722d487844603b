"""Checks that need no model: invented values in a program, and doubts about its answer.

A model that does not know a flight's number may write 1234 and continue; the next call then finds
nothing, or worse, a wrong record. Invented values are therefore findings. A doubtful answer is not
a failure: the model gets the doubts once. It confirms the answer or writes a better program. An
answer that it did not confirm is kept, too, but the run is then `unsure`.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TypeGuard

from atc.core.answer_print import print_name
from atc.core.answers import parse_answer
from atc.core.json_paths import walk_responses
from atc.core.messages import make_finding
from atc.core.types import Finding, Program
from atc.core.value_kinds import is_common, is_measure
from atc.pipeline.attribute.dataflow import simple_name
from atc.pipeline.autofix.paging import unread_pages
from atc.pipeline.guessed_links import find_proposable
from atc.pipeline.ignored_conditions import (
    ProgramText,
    find_ignored_fields,
    find_unused_codes,
    find_unused_numbers,
)
from atc.pipeline.slips import find_unit_slip, find_unused_variables, is_share_for_percent
from protocols.render import describe_origin
from protocols.schema import Json
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.trace import Trace

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
    task: str, program: Program, trace: Trace, answer: str, tools: Toolbox, *, rules: str = ""
) -> tuple[str, ...]:
    """Return sentences for the model that say why `answer` is doubtful; empty if it is not.

    `rules` are the rules that the program must follow, or "". With rules, an answer that is a
    constant sentence of the program is not doubted, because a rule may demand a refusal.
    """
    answer = answer.strip()
    nodes = list(ast.walk(program.tree))
    return (
        *_doubt_empty_answer(f"{task}\n{rules}", program, nodes, trace, answer, tools),
        *(() if rules else _doubt_constant(task, nodes, answer)),
        *_doubt_form(task, trace, answer),
        *_doubt_first_page(program, trace, tools),
        *_doubt_failed_calls(trace),
        *_doubt_slips(task, program, trace, answer, tools),
        *_doubt_conditions(task, ProgramText(program.source, program.tree, trace.calls), tools),
    )


def _doubt_empty_answer(
    task: str, program: Program, nodes: list[ast.AST], trace: Trace, answer: str, tools: Toolbox
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
    if trace.calls and (is_empty or _ZERO.match(answer)):
        yield from islice(_find_unmatched_texts(program, nodes, trace, answer), 1)


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
    unfinished = _UNFINISHED.search(answer)
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
    value = parse_answer(answer)
    records = value if isinstance(value, list) else [value]
    if not records or not all(isinstance(record, dict) for record in records):
        return False
    responses = [inner for _, _, inner in walk_responses(trace.calls) if isinstance(inner, dict)]
    return all(record in responses for record in records)


def _doubt_first_page(program: Program, trace: Trace, tools: Toolbox) -> Iterator[str]:
    """Yield a doubt about a tool whose result has more pages than the program read."""
    for unread in unread_pages(program, trace, tools)[:1]:
        yield (
            f"{unread.tool} has more results than the program read ({unread.evidence}): unless the"
            f" first ones are enough for the task, call it in a loop with {unread.argument} until"
            " the last page."
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
    unused = [*find_unused_codes(task, text, tools), *find_unused_numbers(task, text)]
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


def _doubt_slips(
    task: str, program: Program, trace: Trace, answer: str, tools: Toolbox
) -> Iterator[str]:
    """Yield doubts about computed values that the program never uses, and about wrong units."""
    for name, line in find_unused_variables(program.tree)[:1]:
        yield f"Line {line} computes {name!r}, which is never used: does it belong to the answer?"
    keys = dict.fromkeys(path[-1] for _, path, _ in walk_responses(trace.calls) if path)
    named = [key for key in keys if isinstance(key, str)]
    wrapped = {tools[call.tool].wrapper for call in trace.calls if call.tool in tools}
    if slip := find_unit_slip(task, program.tree, named, [key for key in wrapped if key]):
        yield slip
    if is_share_for_percent(task, program.source, answer):
        yield f"The task asks for percent, but {answer} is a share of 1."


def says_nothing(answer: str) -> bool:
    """Return True if an answer is an empty value: `None`, `[]`, `nan`."""
    return _NOTHING.match(answer) is not None


def _find_unmatched_texts(
    program: Program, nodes: list[ast.AST], trace: Trace, answer: str
) -> Iterator[str]:
    """Yield a doubt for each string in a comparison of the program that no tool result contains."""
    results = json.dumps([call.result for call in trace.calls], ensure_ascii=False, default=repr)
    folds = any(f".{name}(" in program.source for name in ("lower", "casefold", "upper", "title"))
    for side in _compared_values(nodes):
        if isinstance(side, ast.Constant) and isinstance(side.value, str) and side.value:
            written = json.dumps(side.value, ensure_ascii=False)[1:-1]
            found = re.search(re.escape(written), results, re.IGNORECASE)
            if found is None or (not folds and written not in results):
                near = f", but one holds {found[0]!r}" if found else ""
                where = f"line {side.lineno} compares with {side.value!r}"
                yield f"It printed {answer!r}: {where}, which no result holds{near}."


def _compared_values(nodes: Iterable[ast.AST]) -> Iterator[ast.expr]:
    """Yield both sides of each comparison, and the items of a tuple, list or set in it."""
    for node in nodes:
        if not isinstance(node, ast.Compare):
            continue
        for side in (node.left, *node.comparators):
            yield from side.elts if isinstance(side, ast.Tuple | ast.List | ast.Set) else [side]


# --- invented values: ids that occur in neither the task nor a result, and constant answers


def find_invented_values(
    program: Program, task: str, tools: Toolbox, outputs: Iterable[Json] = ()
) -> tuple[Finding, ...]:
    """Return findings for values that the model invented instead of taking them from a response.

    They are literals in required arguments whose values, according to the links between the tools,
    come from the responses of another tool. Only distinctive values that the task does not contain
    are reported: integers from 100, and words with letters and digits. Codes such as `BOS` are not
    reported, because the model may know them, nor are dates, because the task may write them
    differently. A measure (`radius_km`) is not an id, even if a response has a field of that name.
    `outputs` are what earlier programs of the run printed and received from tools; a value that
    occurs in them is not reported.
    """
    given = task.casefold()
    found = list[Finding]()
    for tool, keyword in _arguments(program, tools):
        value = getattr(keyword.value, "value", None)
        name = keyword.arg
        if (
            name is None
            or name not in tool.required
            or not isinstance(value, str | int)
            or is_common(value)
        ):
            continue
        sources = tools.producers(tool, tool.arguments[name])
        measure = isinstance(value, int) and is_measure(name)
        if not sources or measure or str(value).casefold() in given:
            continue
        if any(_is_part_of(value, output) for output in outputs):
            continue
        proposed = find_proposable(tools, tool, tool.arguments[name])
        origin = describe_origin(name, proposed) or "from the result of a function"
        message = (
            f"{value!r} for {name!r} of {tool.alias} is made up: the task does not give it. Take it"
            f" {origin}, or use a function that does not need it."
        )
        found.append(make_finding("made-up-value", keyword.value, message, tool=tool.alias))
    return tuple(found)


def _is_part_of(value: str | int, output: Json) -> bool:
    """Return True if a JSON value or a printed text contains another value as a whole word."""
    text = output if isinstance(output, str) else json.dumps(output, default=repr)
    written = value if isinstance(output, str) else json.dumps(value).strip('"')
    return re.search(rf"(?<!\w){re.escape(str(written))}(?!\w)", text, re.IGNORECASE) is not None


def _arguments(program: Program, tools: Toolbox) -> Iterator[tuple[Tool, ast.keyword]]:
    """Yield each keyword argument of each tool call, together with the tool."""
    for node in ast.walk(program.tree):
        match node:
            case ast.Call(func=ast.Name(id=alias), keywords=keywords) if alias in tools:
                yield from ((tools[alias], keyword) for keyword in keywords)


def find_fixed_answer(program: Program, tools: Toolbox) -> tuple[Finding, ...]:
    """Return a finding if a program prints a value that does not depend on any response.

    `print(len([flights[0]]))` always prints 1. A program is not reported if a print may be skipped
    (in an `if`, a loop or a `try`, or after a `raise`), or if it calls a tool that writes, because
    the effect of the call is then its answer. A sentence is not reported either: it may refuse what
    the task asks for, and is doubted after the program ran.
    """
    tree = program.tree
    nodes = list(ast.walk(tree))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    named = {node.id for node in names} & tools.keys()
    if not named or any(tools[name].protocol.writes for name in named):
        return ()
    prints = _find_unconditional_prints(tree, nodes, program)
    once = _find_single_assignments(tree, names)
    printed = [argument for call in prints for argument in call.args]
    if _may_end_early(nodes) or any(_is_sentence(argument, once) for argument in printed):
        return ()
    if not prints or not all(_is_fixed(argument, once) for argument in printed):
        return ()
    message = (
        "This prints the same whatever the functions return: the answer has to come from what they"
        " return."
    )
    return (make_finding("fixed-answer", prints[-1], message),)


_EXITS = frozenset({"exit", "quit", "_exit"})


def _may_end_early(nodes: list[ast.AST]) -> bool:
    """Return True if the program may end early, because it raises an error or calls `exit`."""
    ends = (ast.Raise, ast.Assert)
    return any(
        isinstance(node, ends) or (isinstance(node, ast.Call) and simple_name(node) in _EXITS)
        for node in nodes
    )


def _is_sentence(node: ast.expr, once: Mapping[str, ast.expr]) -> bool:
    """Return True if an expression is a text of several words, or a name that is assigned one."""
    if isinstance(node, ast.Name):
        node = once.get(node.id, node)
    if isinstance(node, ast.JoinedStr):
        return any(_is_sentence(part, once) for part in node.values)
    value = node.value if isinstance(node, ast.Constant) else None
    return isinstance(value, str) and len(value.split()) >= _SENTENCE_WORDS


_SENTENCE_WORDS = 3
"""Number of words from which a text counts as a sentence and not as a value."""


def _find_unconditional_prints(
    tree: ast.Module, nodes: list[ast.AST], program: Program
) -> list[ast.Call]:
    """Return the calls of `print` that a program certainly executes, in program order.

    The result is empty if a `print` is inside another statement, and may therefore be skipped.
    """
    top = [statement.value for statement in tree.body if isinstance(statement, ast.Expr)]
    prints = [node for node in top if _is_print(node, program)]
    every = [node for node in nodes if _is_print(node, program)]
    return prints if len(prints) == len(every) else []


def _find_single_assignments(tree: ast.Module, names: list[ast.Name]) -> dict[str, ast.expr]:
    """Return the names that a program assigns exactly once, each with the assigned expression.

    Only assignments at the top level of the program count.
    """
    stores = Counter(node.id for node in names if not isinstance(node.ctx, ast.Load))
    once: dict[str, ast.expr] = {}
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if stores[name] == 1:
                once[name] = value
    return once


def _is_print(node: ast.AST, program: Program) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and getattr(node.func, "id", None) == print_name(program)


def _is_fixed(node: ast.expr, given: Mapping[str, ast.expr]) -> bool:
    """Return True if an expression has the same value whatever the tools respond.

    `given` maps names that are assigned once, at the top level, to the assigned expressions.
    """
    rest = {name: value for name, value in given.items() if name != getattr(node, "id", None)}
    match node:
        case ast.Constant():
            return True
        case ast.Name(id=name) if name in given:
            return _is_fixed(given[name], rest) and not isinstance(
                given[name], ast.List | ast.Dict | ast.Set
            )
        case ast.Call(
            func=ast.Name(id="len"),
            args=[ast.List(elts=items) | ast.Tuple(elts=items)],
            keywords=[],
        ):
            return not any(isinstance(item, ast.Starred) for item in items)
        case ast.Call(
            func=ast.Name(id="str" | "int" | "float" | "round" | "abs"), args=items, keywords=[]
        ):
            return all(_is_fixed(item, given) for item in items)
        case (
            ast.List()
            | ast.Tuple()
            | ast.JoinedStr()
            | ast.FormattedValue()
            | ast.BinOp()
            | ast.UnaryOp()
        ):
            return all(
                _is_fixed(inner, given)
                for inner in ast.iter_child_nodes(node)
                if isinstance(inner, ast.expr)
            )
    return False
