"""Tools of a program."""

from atc.core.program import Program
from atc.run.program_tools import writing_tools
from protocols.toolbox import Toolbox
from tests.labs.tools import tool


def test_named_writing_tools_are_found():
    tools = Toolbox([tool("find"), tool("order", reads=False), tool("pay", reads=False)])
    assert writing_tools(Program("find()\norder()"), tools) == {"order"}
