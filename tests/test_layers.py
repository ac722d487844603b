"""Imports go down only (DESIGN's five floors, `atc/cli` as the roof)."""

import ast
from collections.abc import Iterable
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).resolve().parent.parent
FLOORS = {"protocols": 1, "sandbox": 2, "probing": 3, "atc": 4, "toolflow_bench": 5, "atc.cli": 6}
FILES = [
    path
    for package in ("protocols", "sandbox", "probing", "atc", "toolflow_bench")
    for path in (ROOT / package).rglob("*.py")
]


def floor(module: str) -> int | None:
    parts = module.split(".")
    return FLOORS.get(".".join(parts[:2])) or FLOORS.get(parts[0])


def imported(block: Iterable[ast.AST]):
    """Of statements and those within them; no expression holds an import."""
    for node in block:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide which floor they mean"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        for name in ("body", "handlers", "orelse", "finalbody", "cases"):
            yield from imported(getattr(node, name, ()))


def test_imports_are_found_wherever_they_stand():
    source = """
        import a, b.c
        class C:
            async def f():
                with x:
                    for y in z:
                        from d import e
                    else:
                        import g
        try:
            if x: import h
            elif y: import i
            else: import j
        except* V:
            import k
        else:
            while z: import l
        finally:
            match x:
                case 1: import m
    """
    found = [*imported(ast.parse(dedent(source)).body)]
    assert found == ["a", "b.c", "d.e", *"ghijklm"]
    with pytest.raises(AssertionError, match="relative imports"):
        [*imported(ast.parse("from . import x").body)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_down_only(path):
    here = floor(".".join(path.relative_to(ROOT).with_suffix("").parts))
    upward = [name for name in imported(ast.parse(path.read_text()).body) if (floor(name) or 0) > here]
    assert upward == []
