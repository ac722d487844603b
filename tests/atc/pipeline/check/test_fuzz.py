"""The static check never raises and always ends, whatever the program is."""

from __future__ import annotations

import time

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from atc.core.program import Program
from atc.pipeline.check import check, render_finding
from tests.labs.check_corpus import SHOP
from tests.labs.paths import DATA


def checked(source: str) -> None:
    program = Program(source)
    for finding in check(program, SHOP):
        assert finding.line >= 1
        assert finding.column < finding.end_column
        assert render_finding(finding, program).startswith(f"line {finding.line}: ")


PARTS = yaml.safe_load((DATA / "check" / "fuzz.yaml").read_text(encoding="utf-8"))
ATOMS, FORMS, BLOCKS = PARTS["atoms"], PARTS["forms"], PARTS["blocks"]


def _indented(block: str) -> str:
    return "\n".join("    " + line for line in block.split("\n"))


expressions = st.recursive(
    st.sampled_from(ATOMS),
    lambda inner: st.builds(
        lambda form, a, b, c: f"({form.format(a=a, b=b, c=c)})",
        st.sampled_from(FORMS),
        inner,
        inner,
        inner,
    ),
    max_leaves=10,
)
blocks = st.recursive(
    expressions,
    lambda inner: st.builds(
        lambda form, e, f, b, c: form.format(e=e, f=f, b=_indented(b), c=_indented(c)),
        st.sampled_from(BLOCKS), expressions, expressions, inner, inner,
    ),
    max_leaves=8,
)  # fmt: skip


@given(st.lists(blocks, min_size=1, max_size=4))
@settings(max_examples=100, deadline=None, database=None)
def test_any_program(parts: list[str]) -> None:
    checked("\n".join(parts))


DEEP = [
    "(" * 90 + ")" * 90,
    "x = " + "-" * 3000 + "1",
    "[" * 80 + "]" * 80,
    "a" + ".b" * 2000,
    "f(" * 80 + ")" * 80,
]
DEEP += [
    "x = " + " + ".join(["1"] * 3000),
    "\n".join("    " * n + "if x:" for n in range(90)) + " pass",
]
DEEP += [
    "x = 0\n"
    + "".join("    " * n + f"for a{n} in x:\n" for n in range(18))
    + "    " * 18
    + "x = [x]"
]
DEEP += [
    "def f(n): return f(n - 1) + f(f(n))\nprint(f(f(f(3))))",
    "f = lambda f: f(f)\nprint(f(f))",
]
DEEP += [
    "\n".join(f"def f{n}(x): return f{n + 1}(x) + f{n + 1}([x])" for n in range(30))
    + "\ndef f30(x): return x\nprint(f0(1))"
]


@pytest.mark.parametrize("source", DEEP, ids=range(len(DEEP)))
def test_deep_and_wide_programs_end_soon(source: str) -> None:
    started = time.process_time()
    checked(source)
    assert time.process_time() - started < 5
