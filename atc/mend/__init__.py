"""Mends what the check found where the facts leave one way to write it, so that no model need be asked.

An argument under a wrong name, an object iterated for the one list it holds, a name where a code is due and a search
tool that turns the one into the other: such slips are what a small model makes most, and writing a program again costs
it ten seconds. A mended program is checked again; it runs only if nothing is found any more.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from atc.edits import Edit, Places, edited
from atc.mend.lookups import lookup, search_for
from atc.types import Finding, Program
from protocols.parsing import parsed
from protocols.toolbox import Toolbox

_SUBSCRIPT = re.compile(r"""\[(?:'[^']*'|"[^"]*")\]$""")
_SURELY_MEANT = 0.8
"""How alike (difflib's ratio) a key must be to the one that was written."""


def mend(program: Program, findings: tuple[Finding, ...], tools: Toolbox) -> Program | None:
    """The program with those findings mended that leave no choice, or None where all of them do.

    What is left may be mended once the rest is: a value passed by position first gets its name, then its lookup.
    """
    tree = parsed(program.source)
    if tree is None:
        return None
    place = Places(program.source)
    edits = {edit for finding in findings if (edit := _edit(finding, tree, place, tools)) is not None}
    mended = edited(program, edits)
    return mended if edits and mended.source.strip() else None


def _edit(finding: Finding, tree: ast.Module, place: Places, tools: Toolbox) -> Edit | None:
    if finding.code == "tool-reassigned":
        return _left_out(finding, tree, place)
    better = finding.suggestion or ""
    subscript = _SUBSCRIPT.search(better)
    for node in _at(finding, tree):
        match finding.code, node:
            case "unknown-argument", ast.keyword(arg=str(name)) if better.isidentifier():
                return Edit(place.start(node), place.start(node) + len(name.encode()), better)
            case "positional-argument", ast.expr() if "=" in better and not isinstance(node, ast.Call | ast.Starred):
                return Edit(place.start(node), place.start(node), better.partition("=")[0] + "=")
            case "not-a-list", ast.Subscript(value=owner) if (
                subscript and better == ast.unparse(owner) + subscript.group()
            ):
                return Edit(place.end(owner), place.end(owner), subscript.group())
            case "not-a-list" | "wrong-argument-type", ast.expr() if subscript:
                return Edit(place.end(node), place.end(node), subscript.group())
            case "no-attribute", ast.Attribute(value=owner) if subscript:
                return Edit(place.end(owner), place.end(node), subscript.group())
            case "missing-key", ast.Constant(value=str(key)):
                return _other_field(node, key, finding, tree, place, tools)
            case "undefined-name", ast.Name() if better.startswith(("import ", "from ")):
                return Edit(0, 0, better + "\n")
            case "bad-literal", ast.Constant(value=str(text)):
                # `airline="Hawaiian Airlines"` → `airline=search_airlines(query="Hawaiian Airlines")[0]["code"]`
                tool, argument = tools.get(finding.tool or ""), _argument_of(node, tree)
                found = search_for(text, tool, argument, tools) if tool is not None and argument is not None else None
                return place.over(node, found) if found is not None else None
    return None


def _left_out(finding: Finding, tree: ast.Module, place: Places) -> Edit | None:
    """A definition or import of a tool is left out: the tool is there already."""
    for node in tree.body:
        if (node.lineno, node.col_offset) == (finding.line, finding.column):
            match node:
                case ast.FunctionDef(decorator_list=[]) | ast.Import(names=[_]) | ast.ImportFrom(names=[_]):
                    return place.over(node, "")
    return None


def _at(finding: Finding, tree: ast.Module) -> Iterator[ast.expr | ast.keyword]:
    """The nodes that a finding may point at, the widest first."""
    for node in ast.walk(tree):
        if isinstance(node, ast.expr | ast.keyword):
            begins = (node.lineno, node.col_offset) == (finding.line, finding.column)
            if begins and (node.end_lineno != finding.line or node.end_col_offset == finding.end_column):
                yield node


def _meant_key(key: str, better: str, start: int, end: int) -> Edit | None:
    """`x["distance"]` → `x["distance_miles"]`: only for a misspelling, a missing word, or a level left out."""
    if better.startswith("[") and "…" not in better:
        return Edit(start, end, better)
    alike = SequenceMatcher(None, key.lower(), better.lower()).ratio() >= _SURELY_MEANT
    if better and (alike or set(key.lower().split("_")) < set(better.lower().split("_"))):
        return Edit(start, end, f"[{better!r}]")
    return None


def _other_field(
    constant: ast.expr, key: str, finding: Finding, tree: ast.Module, place: Places, tools: Toolbox
) -> Edit | None:
    """`flight["status"]` → `get_flight_status(flight_id=flight["flight_id"])["status"]`, see `lookup`."""
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(value=owner, slice=index) if index is constant:
                meant = _meant_key(key, finding.suggestion or "", place.end(owner), place.end(node))
                if meant is not None:
                    return meant
            case ast.Call(func=ast.Attribute(value=owner, attr="get"), args=[first, *_]) if first is constant:
                pass
            case _:
                continue
        wanted = (name for name in (_argument_of(node, tree), key) if name)
        found = next(filter(None, (lookup(name, finding.keys, tools) for name in wanted)), None)
        return place.over(node, found.replace("{}", ast.unparse(owner))) if found else None
    return None


def _argument_of(value: ast.expr, tree: ast.Module) -> str | None:
    """The alias of the argument that an expression fills by name."""
    return next((node.arg for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.value is value), None)
