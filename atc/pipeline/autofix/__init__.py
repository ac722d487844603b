"""Automatic fixes for those findings of the static check that have only one possible correction.

The fixes need no model. Typical mistakes of small models are a wrong argument name, an object
iterated instead of the only list in it, and a name where a code is required that a search tool can
look up. Asking the model for a new program would take about ten seconds. A fixed program is checked
again, and only executed if the check finds nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from atc.core.program import Program
from atc.core.source_edits import Edit, SourceOffsets, apply_edits
from atc.core.types import Finding
from atc.pipeline.autofix.indentation import remove_unexpected_indent
from atc.pipeline.autofix.lookups import lookup, search_for
from protocols.naming import similarity, snake
from protocols.toolbox import Toolbox

_SUBSCRIPT = re.compile(r"""\[(?:'[^']*'|"[^"]*")\]$""")
_SURELY_MEANT = 0.8
"""Minimum similarity of each word of an existing key to that of the missing key which it replaces.

It is computed by `naming.similarity`.
"""
_SAME_LETTERS = 0.95
"""The same for whole keys with another number of words, such as `flightnumber`."""
_COUNTS = frozenset({"total", "count", "number"})
"""Words for the same figure: `count` may be written for `total_count`."""
_OTHER_FIGURES = frozenset(
    {"total", "count", "max", "min", "mean", "average", "avg", "sum", "is", "has", "next", "last",
     "previous", "first"}
)  # fmt: skip
"""Words which, added to a key, make it the name of another value: `results`, `total_results`."""


def autofix(program: Program, findings: tuple[Finding, ...], tools: Toolbox) -> Program | None:
    """Return the program with every unambiguous fix applied, or None if no finding has such a fix.

    Call this again on the fixed program and its findings: one fix may make another possible. For
    example, a positional argument first gets its name, then a lookup replaces its value.
    """
    if program.parse_error is not None:
        return remove_unexpected_indent(program)
    editor = _Fixes(program, tools)
    # What is not certain may be right, and then needs no fix.
    certain = [finding for finding in findings if finding.certain]
    edits = {edit for finding in certain if (edit := editor.find_edit(finding)) is not None}
    edited = apply_edits(program, edits)
    return edited if edits and edited.source.strip() else None


class _Fixes:
    """Builder of the source edits that fix the findings of the check in one program."""

    def __init__(self, program: Program, tools: Toolbox) -> None:
        self._tree = program.tree
        self._tools = tools
        self._offsets = SourceOffsets(program.source)
        self._argument = {
            node.value: node.arg for node in ast.walk(program.tree) if isinstance(node, ast.keyword)
        }

    def find_edit(self, finding: Finding) -> Edit | None:
        """Return the source edit that fixes a finding; None unless exactly one edit is possible."""
        offsets = self._offsets
        better = finding.suggestion or ""
        for node in self._at(finding):
            match finding.code, node:
                case (
                    "not-a-list" | "wrong-argument-type" | "no-attribute" | "always-true",
                    ast.expr(),
                ):
                    edit = self._add_subscript(node, finding.code, better)
                    if edit is not None:
                        return edit
                case "unknown-argument", ast.keyword(arg=str(name)) if better.isidentifier():
                    return Edit(
                        offsets.start(node), offsets.start(node) + len(name.encode()), better
                    )
                case "positional-argument", ast.expr() if "=" in better and not isinstance(
                    node, ast.Call | ast.Starred
                ):
                    name = better.partition("=")[0]
                    return Edit(offsets.start(node), offsets.start(node), f"{name}=")
                case "missing-key", ast.Constant(value=str(key)):
                    return self._other_field(node, key, finding)
                case "undefined-name", ast.Name() if better.startswith(("import ", "from ")):
                    return Edit(0, 0, better + "\n")
                case "changed-in-loop", ast.Name():
                    return offsets.replacement(node, better)
                case "bad-literal", ast.Constant(value=str(text)):
                    return self._literal(node, text, finding)
                case "tool-reassigned", ast.stmt() if self._is_removable(node):
                    return offsets.replacement(node, "")
        return None

    def _is_removable(self, node: ast.stmt) -> bool:
        """Return True if a statement that gives the name of a tool another meaning can be removed.

        It must be a function definition or an import at the top level of the program. After the
        removal, the name refers to the tool again.
        """
        match node:
            case (
                ast.FunctionDef(decorator_list=[])
                | ast.Import(names=[_])
                | ast.ImportFrom(names=[_])
            ):
                return node in self._tree.body
        return False

    def _add_subscript(self, node: ast.expr, code: str, better: str) -> Edit | None:
        """Return the edit that writes a subscript such as `["flights"]` after an expression.

        The subscript is the one with which `better`, the code that the finding suggests, ends. It
        replaces an attribute such as `.flights`. Return None if `better` does not end in a
        subscript. `code` is the code of the finding.
        """
        subscript = _SUBSCRIPT.search(better)
        if subscript is None:
            return None
        text = subscript.group()
        offsets = self._offsets
        match code, node:
            case "no-attribute", ast.Attribute(value=owner):
                return Edit(offsets.end(owner), offsets.end(node), text)
            case "no-attribute", _:
                return None
            case "not-a-list", ast.Subscript(value=owner) if better == ast.unparse(owner) + text:
                return Edit(offsets.end(owner), offsets.end(owner), text)
            case _:
                return Edit(offsets.end(node), offsets.end(node), text)

    def _at(self, finding: Finding) -> Iterator[ast.expr | ast.keyword | ast.stmt]:
        """Yield the syntax nodes at the position of a finding, the widest first."""
        for node in ast.walk(self._tree):
            if isinstance(node, ast.expr | ast.keyword | ast.stmt):
                begins = (node.lineno, node.col_offset) == (finding.line, finding.column)
                ends = node.end_lineno != finding.line or node.end_col_offset == finding.end_column
                if begins and (ends or isinstance(node, ast.stmt)):
                    yield node

    def _literal(self, node: ast.Constant, text: str, finding: Finding) -> Edit | None:
        """Return the edit that replaces a literal which its argument does not accept, or None.

        Examples: `seats="2"` → `seats=2`; `airline="Hawaiian Airlines"` →
        `airline=search_airlines(query=…)[0]["code"]`.
        """
        if finding.suggestion == text:
            return self._offsets.replacement(node, text)
        tool = self._tools.get(finding.tool or "")
        argument = self._argument.get(node)
        found = search_for(text, tool, argument, self._tools) if tool and argument else None
        return self._offsets.replacement(node, found) if found is not None else None

    def _other_field(self, constant: ast.expr, key: str, finding: Finding) -> Edit | None:
        """Return the edit for code that reads a field which the object does not have, or None.

        The edit corrects the key or adds a call that looks the field up (see `lookups.lookup`).
        Example: `flight["status"]` → `get_flight_status(flight_id=flight["flight_id"])["status"]`.
        """
        for node in ast.walk(self._tree):
            match node:
                case ast.Subscript(value=owner, slice=index) if index is constant:
                    passed_on = node in self._argument
                    if (
                        meant := _rename_key(key, finding.suggestion or "", passed_on=passed_on)
                    ) is not None:
                        return Edit(self._offsets.end(owner), self._offsets.end(node), meant)
                case ast.Call(func=ast.Attribute(value=owner, attr="get"), args=[first, *_]) if (
                    first is constant
                ):
                    pass
                case _:
                    continue
            wanted = (name for name in (self._argument.get(node), key) if name)
            found = next(
                filter(None, (lookup(name, finding.keys, self._tools) for name in wanted)), None
            )
            return (
                self._offsets.replacement(node, found.replace("{}", ast.unparse(owner)))
                if found
                else None
            )
        return None


def _is_subscripts(text: str) -> bool:
    """Return True if a text consists of subscripts with literal keys only, such as `["a"]["b"]`.

    The text contains keys of a response. A key may look like code, and must not become code.
    """
    if not text.startswith("["):
        return False
    try:
        node = ast.parse(f"x{text}", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    while isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        node = node.value
    return isinstance(node, ast.Name)


def _rename_key(key: str, better: str, *, passed_on: bool) -> str | None:
    """Return the subscript that corrects a missing key: `["distance_miles"]` for `["distance"]`.

    `better` is the key or the subscripts that the check suggests. Return None if it is not similar
    to `key`. Only a misspelling, a missing word or a missing level is corrected. A key is not
    extended to an id (`capital` to `capital_city_id`) unless the value is passed on to a tool
    (`passed_on`).
    """
    if _is_subscripts(better):
        return better
    words = snake(key).split("_")
    meant = snake(better).split("_")
    added = {*meant} - {*words}
    is_count = {*meant} <= _COUNTS
    fewer = {*words} < {*meant} and (is_count or not added & _OTHER_FIGURES)
    if not better or not (fewer or _is_misspelt(words, meant)):
        return None
    return f"[{better!r}]" if passed_on or "id" not in added else None


def _is_misspelt(words: list[str], meant: list[str]) -> bool:
    """Return True if a name is another one with a mistake in the spelling of its words.

    A name with another word is no such mistake: `temperature_mean` is not `temperature_max`.
    """
    if len(words) != len(meant):
        return similarity("".join(words), "".join(meant)) >= _SAME_LETTERS
    pairs = zip(words, meant, strict=True)
    return all(similarity(word, other) >= _SURELY_MEANT for word, other in pairs)
