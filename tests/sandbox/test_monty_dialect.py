"""What monty is given of a program that awaits tools: the same lines, and where calls are begun."""

from __future__ import annotations

import pytest

from sandbox.monty_dialect import adapt_program


@pytest.mark.parametrize(
    ("source", "adapted", "begun"),
    [
        ("x = f(a=1)", "x = f(a=1)", []),
        ("é = 1; x = await f(a=1)", "é = 1; x = await f(a=1)", ["f(a=1)"]),
        (
            "async def g():\n    x = f(a=f(\n        a=1))['é']\n    return [f() for _ in x]",
            (
                "async def g():\n    x = (await f(a=(await f(\n        a=1))))['é']\n"
                "    return [(await f()) for _ in x]"
            ),
            ["f(a=(", "f(\n", "f()"],
        ),
        ("async def g():\n    return lambda: f()", "async def g():\n    return lambda: f()", []),
        ("x = 1\nreturn [\n    x]", "x = 1\n( [\n    x])", []),
        ("x = 1\nreturn", "x = 1\nNone", []),
    ],
)
def test_a_program_is_adapted(source, adapted, begun):
    program = adapt_program(source, ["f"])
    assert program.source == adapted
    data = program.source.encode()
    found = [data[start:].decode() for start in sorted(program.awaited)]
    assert len(found) == len(begun)
    assert all(text.startswith(start) for text, start in zip(found, begun, strict=True))
