"""The static check never raises and always ends, whatever the program is."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atc.check import check, render_finding
from atc.types import Program
from tests.check_lab import SHOP


def checked(source: str) -> None:
    program = Program(source)
    for finding in check(program, SHOP):
        assert finding.line >= 1
        assert finding.column < finding.end_column
        assert render_finding(finding, program).startswith(f"line {finding.line}: ")


ATOMS = [
    "x", "y", "z", "f", "g", "None", "True", "0", "1", "-1", "2.5", "''", "'items'", "'status'", "'lines'", "b'x'",
    "...", "[]", "{}", "()", "print", "len", "max", "sorted", "dict", "list", "get_order", "get_order(order_id=1)",
    "list_orders(customer_id=y)", "search_products(query=x)", "exchange_rates(base=x)",
    "get_category_tree(root_id=1)", "get_product(sku=x)",
]  # fmt: skip
FORMS = [
    "{a}[{b}]", "{a}[{b}:{c}]", "{a}.x", "{a}.get({b}, {c})", "{a}.items()", "{a}.values()", "{a}.append({b})",
    "{a}.pop({b})", "{a}.update({b})", "{a}.sort(key={b})", "{a}.join({b})", "{a}({b}, key={c})", "{a}(*{b}, **{c})",
    "{a} + {b}", "{a} % {b}", "{a} * {b}", "{a} | {b}", "{a} - {b}", "{a} and {b}", "{a} or {b}", "{a} < {b}",
    "{a} is {b}", "{a} in {b}", "{a} == {b}", "{a} != {b}", "not {a}", "-{a}", "{a} if {b} else {c}", "x := {a}",
    "lambda x, y={a}: {b}", "{{{a}: {b}, **{c}}}", "[{a}, {b}]", "({a}, {b})", "{{{a}, {b}}}",
    "[{a} for x in {b} if {c}]", "{a} for x in {b} for y in x", "{{{a}: {b} for x, y in {c}}}",
    "{{{a} for x in {b}}}", "f'{{{a}:.2f}}'", "sorted({a}, key=lambda x: {b})",
    "max({a}, key=lambda x: {b}, default={c})", "sum({a} for x in {b})", "list(zip({a}, {b}))",
    "list(enumerate({a}))", "list(map({a}, {b}))", "list(filter({a}, {b}))", "isinstance({a}, {b})", "dict({a})",
    "set({a})", "next({a}, {b})", "all({a})", "int({a})", "round({a}, {b})", "print({a})", "get_order(order_id={a})",
    "search_products(query={a}, **{b})",
]  # fmt: skip
BLOCKS = [
    "{e}", "x = {e}", "y = {e}", "f = {e}", "x[{e}] = {f}", "x += {e}", "x, *y = {e}", "(x, y), z = {e}, {f}",
    "del x", "x: int = {e}", "if {e}:\n{b}\nelse:\n{c}", "while {e}:\n{b}\n    break", "while {e}:\n{b}",
    "for x in {e}:\n{b}", "for x, y in {e}:\n{b}\n    continue", "try:\n{b}\nexcept KeyError as x:\n{c}",
    "try:\n{b}\nexcept Exception:\n    print(1)\nfinally:\n{c}", "with {e} as x:\n{b}",
    "def f(x=None, *y, z={e}):\n{b}\n    return {f}", "def g(x):\n{b}\n    yield {f}",
    "async def f(x):\n{b}\n    return await {f}", "class A:\n{b}",
    "match {e}:\n    case [x, *y]:\n        {f}\n    case {{'k': z}} if {f}:\n        x\n    case _:\n        y",
    "def f():\n    global x\n{b}", "assert {e}", "import json as x\nfrom a import b as y",
    "for x in {e}:\n    for y in x:\n    {b}",
]  # fmt: skip


def _indented(block: str) -> str:
    return "\n".join("    " + line for line in block.split("\n"))


expressions = st.recursive(
    st.sampled_from(ATOMS),
    lambda inner: st.builds(
        lambda form, a, b, c: f"({form.format(a=a, b=b, c=c)})", st.sampled_from(FORMS), inner, inner, inner
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


DEEP = ["(" * 90 + ")" * 90, "x = " + "-" * 3000 + "1", "[" * 80 + "]" * 80, "a" + ".b" * 2000, "f(" * 80 + ")" * 80]
DEEP += ["x = " + " + ".join(["1"] * 3000), "\n".join("    " * n + "if x:" for n in range(90)) + " pass"]
DEEP += ["x = 0\n" + "".join("    " * n + f"for a{n} in x:\n" for n in range(18)) + "    " * 18 + "x = [x]"]
DEEP += ["def f(n): return f(n - 1) + f(f(n))\nprint(f(f(f(3))))", "f = lambda f: f(f)\nprint(f(f))"]
DEEP += [
    "\n".join(f"def f{n}(x): return f{n + 1}(x) + f{n + 1}([x])" for n in range(30))
    + "\ndef f30(x): return x\nprint(f0(1))"
]


@pytest.mark.parametrize("source", DEEP, ids=range(len(DEEP)))
def test_deep_and_wide_programs_end_soon(source: str) -> None:
    started = time.process_time()
    checked(source)
    assert time.process_time() - started < 5
