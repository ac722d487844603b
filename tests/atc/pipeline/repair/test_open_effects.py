"""A write that returned the text which the program raised may have refused."""

import pytest

from atc import Agent, Config, Toolbox
from tests.labs.tools import tool, writing

pytestmark = pytest.mark.usefixtures("shared_sandbox")

REFUSED = "Value must be one of 'a', 'b'"
FAILS = (
    "made = plot(value='x')\nif not made.endswith('.png'):\n    raise ValueError({})\nprint(made)"
)


@pytest.fixture
def run(sandbox):
    def solve(raised, last):
        plot = tool(
            "plot",
            lambda given: REFUSED if given["value"] == "x" else "a.png",
            {"value": "string"},
            reads=False,
        )
        model = writing(FAILS.format(raised), last)
        config = Config(strategy="chain", samples=1, max_repairs=1, allow_writes=("all",))
        solution = Agent(Toolbox([plot]), model=model, sandbox=sandbox, config=config).run("Plot.")
        return solution, model.prompts[1][-1].content

    return solve


def test_the_model_is_asked_about_a_raised_text(run):
    solution, asked = run("made", "print(plot(value='a'))")
    assert "whether the call changed anything" in asked
    assert "failed=" in solution.notes[0]
    assert solution.status == "paused"


def test_other_failures_leave_writes_alone(run):
    solution, asked = run("'I do not like it'", "print(plot(value='a'))")
    assert "changed anything" not in asked
    assert solution.notes == ()
