"""From an edit to a `Mutant`: the new text, and the true places in terms of the new text's lines."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from atc.attribute.paths import Path, general, text
from protocols.parsing import parse
from toolflow_bench.mutants.edit import replaced, text_of
from toolflow_bench.mutants.mutant import Mutant, MutantKind, Truth
from toolflow_bench.mutants.observe import Gold


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """A true place before the edit. `site` is the expression that made the call; `call` its index where it is sure."""

    site: ast.AST
    tool: str
    path: str
    call: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """`node` becomes `text`; what stands within it moves down by `inner` lines."""

    node: ast.expr | ast.stmt
    text: str
    variant: str
    inner: int = 0


def in_response(gold: Gold, call: int, path: Path, *, sure: bool) -> Where:
    """A place in the response of the gold run's call; `sure` that the fault strikes there and not at a later call."""
    site = gold.sites[call]
    return Where(site=site, tool=gold.calls[call].tool, path=text(general(path)), call=call if sure else None)


def of_argument(gold: Gold, site: ast.Call, argument: str, *, sure: bool) -> Where:
    """An argument of the calls that an expression makes; `sure` that the first one strikes."""
    first = gold.values(site)[0].call
    return Where(site=site, tool=gold.alias(site) or "", path=argument, call=first if sure else None)


def empty_answers(gold: Gold, site: ast.Call) -> list[Where]:
    """The lists in the answers of an expression's calls: they are empty where a wrong argument finds nothing."""
    first = gold.values(site)[0].call or 0
    result = gold.calls[first].result
    keys = [key for key, value in result.items() if isinstance(value, list)] if isinstance(result, Mapping) else []
    once = len(gold.values(site)) == 1
    return [in_response(gold, first, (key,), sure=once) for key in keys]


def mutant_of(gold: Gold, kind: MutantKind, edit: Edit, truth: Where, also: Sequence[Where] = ()) -> Mutant | None:
    """The mutant of an edit; None where the new text is no program, or no other one."""
    before = text_of(gold.source, edit.node)
    program = replaced(gold.source, edit.node, edit.text)
    try:
        same = ast.dump(parse(program)) == ast.dump(gold.tree)
    except SyntaxError:
        return None
    if same:
        return None
    # An edit that takes a call away moves the numbers of those behind it.
    counted = _named(gold, gold.tree) == _named(gold, parse(program))
    node, longer = edit.node, edit.text.count("\n") - before.count("\n")

    def told(where: Where) -> Truth:
        first, last = _lines(where.site)
        edited_first, edited_last = _lines(node)
        if first > edited_last:
            first, last = first + longer, last + longer
        elif first > edited_first and last <= edited_last:
            first, last = first + edit.inner, last + edit.inner
        elif last >= edited_last:
            last = max(first, last + longer)
        call = where.call if counted else None
        return Truth(tool=where.tool, path=where.path, first_line=first, last_line=last, call=call)

    return Mutant(
        task=gold.task,
        kind=kind,
        variant=edit.variant,
        program=program,
        line=edit.node.lineno,
        before=before,
        after=edit.text,
        truth=told(truth),
        also=tuple(dict.fromkeys(map(told, also))),
    )


def _named(gold: Gold, tree: ast.AST) -> int:
    """How often a program names a tool."""
    return sum(isinstance(node, ast.Name) and node.id in gold.toolbox for node in ast.walk(tree))


def _lines(node: ast.AST) -> tuple[int, int]:
    first = getattr(node, "lineno", 1)
    return first, getattr(node, "end_lineno", None) or first
