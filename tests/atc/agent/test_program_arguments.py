"""Arguments of a program are assigned without a new line, before anything reads them."""

from __future__ import annotations

import pytest

from atc.agent import Agent
from atc.agent.program_arguments import place_arguments
from atc.core.task import InvalidTask
from protocols.sources import load_tools
from protocols.toolbox import Toolbox


@pytest.mark.parametrize(
    ("source", "placed"),
    [
        ("print(city)", "city = 'LGA'; print(city)"),
        ("# Departures.\nprint(city)", "city = 'LGA'  # Departures.\nprint(city)"),
        ('"""Doc."""\n\nprint(city)', '"""Doc."""\ncity = \'LGA\'\nprint(city)'),
        (
            "from __future__ import annotations\nprint(city)",
            "from __future__ import annotations\ncity = 'LGA'; print(city)",
        ),
        (
            "def f():\n    return city\nprint(f())",
            "def f():\n    return city\ncity = 'LGA'; print(f())",
        ),
        (
            "for one in find(city):\n    print(one)",
            "for one in (city := 'LGA', (find(city)))[-1]:\n    print(one)",
        ),
        (
            "try:\n    print(city)\nfinally:\n    pass",
            "try:\n    city = 'LGA'; print(city)\nfinally:\n    pass",
        ),
        ("print(", "print("),
    ],
)
def test_lines_keep_their_numbers(source: str, placed: str) -> None:
    assert place_arguments(source, {"city": "LGA"}, Toolbox()) == placed
    assert placed.count("\n") == source.count("\n")


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("city = 'JFK'\nprint(city)", "sets this variable itself on line 1"),
        ("def f(city):\n    return city\nprint(f(1))", "reads no variable 'city'"),
        ("print(ctiy)", "those that it expects: ctiy"),
        ("class A:\n    x = city\nprint(A.x)", "put an empty line or a comment at the top"),
    ],
)
def test_an_argument_must_be_read_alone(source: str, problem: str) -> None:
    with pytest.raises(InvalidTask, match=problem):
        place_arguments(source, {"city": "LGA"}, Toolbox())


@pytest.mark.parametrize("name", ["2city", "class", "print", "__name__", "find"])
def test_a_name_must_be_free(name: str) -> None:
    def find(city: str) -> str:
        return city

    with pytest.raises(InvalidTask, match=f"argument '{name}'"):
        place_arguments(f"print({name})", {name: 1}, load_tools(find))


@pytest.mark.usefixtures("shared_sandbox")
def test_a_value_cannot_leave_its_literal() -> None:
    def echo(text: str) -> str:
        return text

    echo.read_only = True  # type: ignore[attr-defined]
    hostile = "'; echo(text='x')\n\u2028\"\\"
    with Agent(load_tools(echo)) as agent:
        solution = agent.execute("print(repr(echo(text=said)))", arguments={"said": hostile})
    assert solution.answer == repr(hostile)
    assert solution.call_count == 1
