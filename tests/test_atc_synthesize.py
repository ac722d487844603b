"""Prompts, and the program that stands in a reply."""

import pytest

from atc.prompts import fill
from atc.synthesize import opening, parse, samples
from protocols.ask import Completion
from protocols.protocol import ToolProtocol
from protocols.toolbox import Tool, Toolbox

PROGRAM = "x = find(name='a')\nprint(x)\n"


@pytest.mark.parametrize(
    "reply",
    [
        f"```python\n{PROGRAM}```",
        f"Here it is:\n\n```python\n{PROGRAM}```\nIt prints x.",
        f"```\n{PROGRAM}```",
        f"```Python\n{PROGRAM}",  # cut off before the fence was closed
        f"First:\n```python\nx = 1\n```\nbetter:\n```python\n{PROGRAM}```",
        f"```json\n{{}}\n```\n```python\n{PROGRAM}```",
        PROGRAM,
        f"```python\n{PROGRAM.rstrip()}```\nDone.",
        f"   ```py\n{PROGRAM}   ```",
    ],
)
def test_the_program_is_found(reply):
    assert parse(reply).source == PROGRAM


@pytest.mark.parametrize("reply", ["", "   \n", "I cannot do that.", "Sorry", "```python\n```", "42"])
def test_no_program_is_none(reply):
    assert parse(reply) is None


def test_a_block_with_a_syntax_error_is_still_the_program():
    assert parse("```python\nprint(\n```").source == "print(\n"


def replies(*texts):
    asked = []

    def complete(messages, **settings):
        asked.append(settings)
        return Completion(text=texts[len(asked) - 1], model="scripted")

    complete.asked = asked
    return complete


def test_samples_are_lazy_greedy_first_and_different():
    complete = replies("```python\nprint(1)\n```", "no code", "```python\nprint(1)\n```", "```python\nprint(2)\n```")
    drawn = samples([], complete, count=4, temperature=0.7)
    assert next(drawn).source == "print(1)\n"
    assert len(complete.asked) == 1
    assert [program.source for program in drawn] == ["print(2)\n"]
    assert [(a["temperature"], a["seed"]) for a in complete.asked] == [(0.0, 0), (0.7, 1), (0.7, 2), (0.7, 3)]


def test_the_prompt_holds_stubs_and_task_behind_a_worked_example():
    tool = Tool(protocol=ToolProtocol(name="find-it", description="Finds it."), call=lambda arguments: None)
    messages = opening("Where is $it {0}?", Toolbox([tool]), budget=1000)
    assert [m.role for m in messages] == ["system", "user", "assistant", "user"]
    assert "def find_it()" in messages[-1].content
    assert messages[-1].content.endswith("Task: Where is $it {0}?")
    assert parse(messages[2].content) is not None


def test_a_missing_or_surplus_variable_of_a_prompt_is_an_error():
    with pytest.raises(KeyError, match="stubs"):
        fill("task", task="x")
    with pytest.raises(KeyError, match="colour"):
        fill("task", task="x", stubs="y", colour="z")
