"""Prompts, and the program that stands in a reply."""

import pytest

from atc.core.program import Program
from atc.core.prompts import fill
from atc.core.replies import program_in_reply
from atc.pipeline.synthesize import build_program_prompt, new_program
from protocols.model import Completion
from protocols.protocol import ToolProtocol
from protocols.tool import Tool
from protocols.toolbox import Toolbox

TEXT = {"type": "string"}


def replies(*texts):
    asked = []

    def complete(messages, **settings):
        asked.append(settings)
        return Completion(text=texts[len(asked) - 1], model="scripted")

    complete.asked = asked
    return complete


def test_more_replies_need_news_from_one():
    complete = replies("```python\nprint(1)\n```", "no code", "```python\nprint(2)\n```")
    found = new_program([], complete, known={"print(1)\n"}, most=4, temperature=0.7)
    assert found == Program("print(2)\n")
    assert [(a["temperature"], a["seed"]) for a in complete.asked] == [(0.0, 0), (0.7, 1), (0.7, 2)]
    again = replies("no code", "```python\nprint(1)\n```")
    assert new_program([], again, known={"print(1)\n"}, most=2, temperature=0.7) == Program(
        "print(1)\n"
    )
    assert new_program([], replies("no code"), known=(), most=1, temperature=0.7) is None


def test_the_prompt_shows_an_example_then_the_task():
    tool = Tool(
        protocol=ToolProtocol(name="find-it", description="Finds it.", output_schema=TEXT),
        call=lambda arguments: None,
    )
    messages = build_program_prompt("Where is $it {0}?", Toolbox([tool]), budget=1000)
    assert [m.role for m in messages] == ["system", "user", "assistant", "user"]
    assert "def find_it()" in messages[-1].content
    assert messages[-1].content.endswith("Task: Where is $it {0}?")
    assert program_in_reply(messages[2].content) is not None


def test_a_prompt_of_names_shows_nothing_else():
    protocol = ToolProtocol(
        name="find-it",
        description="Finds it.",
        input_schema={
            "type": "object",
            "properties": {"colour": {"type": "string"}},
            "required": ["colour"],
        },
    )
    tools = Toolbox([Tool(protocol=protocol, call=lambda arguments: None)])
    asked = build_program_prompt("Where is it?", tools, budget=1000, docs="names")[-1]
    assert asked.content == "Functions:\n\n```python\nfind_it\n```\n\nTask: Where is it?"


def test_undescribed_tools_are_named_beside_described_ones():
    def prompt(*outputs):
        tools = (
            Tool(ToolProtocol(name=f"find_{n}", output_schema=output), lambda arguments: None)
            for n, output in enumerate(outputs)
        )
        return build_program_prompt("Where?", Toolbox(tools), budget=1000)[-1].content

    assert "None of these functions describes what its result holds." in prompt(
        None, {"type": "object"}
    )
    assert "what the results of these functions hold: find_1." in prompt(TEXT, None)
    assert prompt(TEXT, TEXT).endswith("Task: Where?")


@pytest.mark.parametrize("small", [False, True])
def test_only_small_models_hear_nothing_of_look(small):
    asked = build_program_prompt("Where?", Toolbox(), budget=1000, small=small)[0].content
    assert ("look(value)" in asked) != small
    assert asked.endswith("- Reply with one ```python block and nothing else.")


@pytest.mark.parametrize("prompt", ["program", "step", "codeact"])
def test_prompts_explain_printing_and_failing_calls(prompt):
    values = {"codeact": {"turns": "10"}, "program": {"keys": "", "pages": "", "look": ""}}
    text = fill(prompt, **values.get(prompt, {}))
    value = "value" if prompt == "step" else "one value"
    for told in (value, "several", "list", "pairs", "None", "ToolError", ".status", ".body"):
        assert told in text
