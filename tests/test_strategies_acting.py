"""Calls made one at a time, as lines of a program that grows."""

from __future__ import annotations

import pytest

from atc.strategies import react
from protocols.protocol import Annotations, ToolProtocol
from protocols.toolbox import Tool, Toolbox
from sandbox.zygote import ZygoteSandbox
from tests.acting_lab import Lab, World, finish, turn


@pytest.fixture(scope="module")
def sandbox():
    with ZygoteSandbox() as running:
        yield running


class Hiding(World):
    """Tools that are called as the variables of the program would be."""

    @property
    def toolbox(self) -> Toolbox:
        return Toolbox([*super().toolbox.values(), *map(self._named, ("result_1", "result_12", "result__2"))])

    def _named(self, name: str) -> Tool:
        protocol = ToolProtocol(name=name, annotations=Annotations(read_only=True), input_schema={"type": "object"})
        return Tool(protocol=protocol, call=lambda _: self.sent.append((name, {})) or f"that of {name}")


def test_no_variable_hides_a_tool(sandbox) -> None:
    lab = Lab(Hiding(), sandbox)
    names = ["list_people", "result_1", "result_12", "result__2", "result_1"]
    solution, _ = lab(react.solve, *map(turn, names), finish("done"))
    assert (solution.status, solution.answer) == ("solved", "done")
    assert [name for name, _ in lab.world.sent] == names


def test_where_no_tool_is_called_so_the_variables_are_plain(sandbox) -> None:
    solution, _ = Lab(World(), sandbox)(react.solve, turn("list_people"), finish("two"))
    assert solution.attempts[-1].program.source == "result_1 = list_people()\nprint('two')\n"
