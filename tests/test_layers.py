"""Imports go down only (DESIGN's five floors, `atc/cli` as the roof)."""

import ast
from pathlib import Path

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


def imported(tree: ast.AST):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, "relative imports hide which floor they mean"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_down_only(path):
    here = floor(".".join(path.relative_to(ROOT).with_suffix("").parts))
    upward = [name for name in imported(ast.parse(path.read_text())) if (floor(name) or 0) > here]
    assert upward == []
