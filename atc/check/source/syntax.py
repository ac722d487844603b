"""Source to syntax tree, or the finding that says why not."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from atc.check.report import finding
from atc.types import Finding, Program
from protocols import parsing


def parse(program: Program) -> ast.Module | Finding:
    """The program's tree. Nothing is executed: compiling only finds what parsing alone does not (a stray `return`)."""
    source = program.source
    tree: ast.Module | None = None
    try:
        with parsing.without_warnings():
            tree = parsing.parse(source)
            compile(tree, "<program>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except SyntaxError as error:
        if tree is not None and (error.msg or "").startswith("keyword argument repeated"):
            return tree  # it has a finding of its own
        return _of_error(error, program)
    except (ValueError, OverflowError) as error:
        return Finding(code="syntax", message=f"this is not Python: {error}.", line=1, end_column=1)
    except (RecursionError, MemoryError):
        return Finding(code="syntax", message="the program is nested too deeply to be read.", line=1, end_column=1)
    return tree


def _of_error(error: SyntaxError, program: Program) -> Finding:
    line, column = error.lineno or 1, max(0, (error.offset or 1) - 1)
    end = (error.end_offset or 0) - 1 if error.end_lineno == error.lineno else 0
    said = (error.msg or "invalid syntax").rstrip(".")
    message = f"syntax error: {said}.{_advice(error, program)}"
    return Finding(code="syntax", message=message, line=line, column=column, end_column=max(end, column + 1))


def _advice(error: SyntaxError, program: Program) -> str:
    text = program.line(error.lineno)
    if text.startswith("```"):
        return " Write the program alone, without Markdown fences."
    if "outside function" in (error.msg or "") and "return" in (error.msg or ""):
        return " Print the value instead of returning it."
    return ""


def doubled_arguments(nodes: Iterable[ast.AST]) -> list[Finding]:
    """A finding for every keyword that a call repeats."""
    found = []
    for node in nodes:
        if not isinstance(node, ast.Call):
            continue
        seen: set[str] = set()
        for keyword in node.keywords:
            if keyword.arg is not None and keyword.arg in seen:
                tool = node.func.id if isinstance(node.func, ast.Name) else None
                message = f"argument {keyword.arg!r} is given twice in this call. Keep one of them."
                found.append(finding("doubled-argument", keyword, message, tool=tool))
            seen.add(keyword.arg or "")
    return found
