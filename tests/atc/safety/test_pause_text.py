"""Words about a call that a person must allow."""

from atc.safety.pause_text import describe_problems, hint_further
from atc.safety.questions import Question
from atc.safety.taint import TaintedValue
from protocols.protocol import ToolProtocol
from protocols.tool import Tool
from protocols.toolbox import Toolbox

TOOLS = Toolbox([Tool(ToolProtocol(name="run_sql"), print)])


def question(*tainted):
    return Question(tool=TOOLS["run_sql"], arguments={}, tainted=tainted)


def test_a_write_is_a_problem_of_its_own():
    assert describe_problems(question(), unallowed=False) == []
    assert "may change something" in describe_problems(question(), unallowed=True)[0]


def test_a_command_may_be_opened_as_argument():
    made_up = TaintedValue(
        argument="sql",
        path=(),
        value="DROP TABLE x",
        kind="command",
        origin="the model wrote it",
        rules=("value=x",),
    )
    assert "--trust run_sql.sql" in hint_further(question(made_up), TOOLS, unallowed=False)
    assert "--trust" not in hint_further(question(), TOOLS, unallowed=False)
