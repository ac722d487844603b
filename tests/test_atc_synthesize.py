"""Prompts, and the program that stands in a reply."""

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atc.prompts import fill
from atc.synthesize import opening, parse, samples
from atc.types import Program
from protocols.ask import Completion
from protocols.protocol import ToolProtocol
from protocols.toolbox import Tool, Toolbox
from sandbox.restated import without_restated

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


STUBS = """\
from typing import TypedDict


class Person(TypedDict):
    id: str  # of the person
    name: str | None


Page = TypedDict("Page", {"from": str})


def find(*, name: str, page: int = ...) -> Person:
    \"\"\"Find a person.

    name: as people say it
    \"\"\"


async def later(*, id: str) -> list[Person]: ...
"""


@pytest.mark.parametrize(
    "reply",
    [
        f"```python\n{STUBS}\n{PROGRAM}```",
        f"```python\n{STUBS}```\n\n```python\n{PROGRAM}```",
        f"```python\n{PROGRAM}```\n\nwhere:\n\n```python\n{STUBS}{STUBS}```",
        f"{STUBS}\n{PROGRAM}",
    ],
)
def test_what_repeats_the_given_functions_is_left_out(reply):
    assert parse(reply).source.strip() == PROGRAM.strip()


@pytest.mark.parametrize(
    "reply",
    [f"```python\n{STUBS}```", STUBS, f"```\n{STUBS}```", f"```python\nimport json\n{STUBS}```", f"```python\n{STUBS}"],
)
def test_a_reply_of_nothing_else_is_no_program(reply):
    assert parse(reply) is None


@pytest.mark.parametrize(
    "source",
    [
        "def total(values):\n    return sum(values)\n\n\nprint(total([1]))\n",
        'def total(values):\n    """The sum."""\n    return sum(values)\n\n\nprint(total([1]))\n',
        "from typing import TypedDict\n\n\nclass P(TypedDict):\n    id: str\n\n\np: P = find(name='a')\nprint(p)\n",
        "class Box:\n    pass\n\n\nprint(Box())\n",
        "def nothing(): pass\nprint(nothing())\n",
        "from typing import Any\nx: Any = find(name='a')\nprint(x)\n",
    ],
)
def test_what_a_program_defines_for_itself_stays(source):
    assert parse(f"```python\n{source}```").source == source


@pytest.mark.parametrize(
    ("source", "left"),
    [
        ("def find(*, name): ...\nx = 1; print(x)\n", "x = 1; print(x)\n"),
        ("@staticmethod\ndef find(*, name):\n    ...\nprint(1)\n", "print(1)\n"),
        ("größe = 2\ndef find(*, name): ...\nprint(größe)\n", "größe = 2\nprint(größe)\n"),
    ],
)
def test_the_rest_stays_as_it_was_written(source, left):
    assert parse(f"```python\n{source}```").source == left


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "x = 1",
                "print(x)",
                "def f(): ...",
                "def g():\n    return 1",
                "import os",
                '"words"',
                "class T(TypedDict):\n    a: T",
            ]
        ),
        max_size=6,
    )
)
def test_what_is_left_of_a_program_is_a_program(statements):
    source = "\n".join(statements) + "\n"
    left = without_restated(source)
    if left is not None:
        ast.parse(left)
        assert without_restated(left) == left
        assert left.count("print(x)") == source.count("print(x)")


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


def test_a_prompt_of_names_holds_nothing_else_of_the_tools():
    protocol = ToolProtocol(
        name="find-it",
        description="Finds it.",
        input_schema={"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"]},
    )
    tools = Toolbox([Tool(protocol=protocol, call=lambda arguments: None)])
    system, example, program, asked = opening("Where is it?", tools, budget=1000, docs="names")
    assert asked.content == "Functions:\n\n```python\nfind_it\n```\n\nTask: Where is it?"
    assert example.content == (
        "Functions:\n\n```python\nsearch_authors\nlist_books\nget_publisher\n```\n\n"
        "Task: Which publisher brought out the longest book that Ursula Le Guin published in 1974?"
    )
    assert program == opening("Where is it?", tools, budget=1000)[2]
    assert system.content == NAMES_PROMPT


NAMES_PROMPT = """\
You answer a task by writing one Python program. The functions you are given by name are already defined; they call real services.

Rules:
- Choose the functions by their names. What they take and what they give is filled in as you write: only what exists can be written.
- Call the functions with keyword arguments. Do not define or import them. Use no other way to get data.
- Results are plain dicts and lists: read them with result["key"].
- Codes and ids that the task does not give come from the result of another function. Never make them up.
- A result with page and pages holds only one page: loop until the last page.
- Print the answer alone, with print(), as a bare value without a sentence around it.
- Reply with one ```python block and nothing else."""  # noqa: E501 - as the model reads it


class Decoding:
    """A decoder that holds programs to grammars once the check stopped one, and gives these."""

    def __init__(self, *programs):
        self.programs, self.asked, self.told = iter(programs), [], []

    def constrains(self, *, stopped):
        self.told.append(stopped)
        return stopped

    def write(self, messages, **settings):
        self.asked.append(settings)
        source = next(self.programs)
        return Program(source) if source else None


def test_the_first_program_of_either_kind_is_greedy():
    complete = replies("```python\nprint(1)\n```", "```python\nprint(4)\n```")
    decoder, stopped = Decoding("print(2)\n", "print(3)\n"), iter([False, True, True, False])
    drawn = samples(
        [], complete, count=4, temperature=0.7, decoder=decoder, stopped=lambda: next(stopped), before="b", seen="s"
    )
    assert [program.source for program in drawn] == [f"print({n})\n" for n in (1, 2, 3, 4)]
    assert [(a["temperature"], a["seed"], a["purpose"]) for a in complete.asked] == [
        (0.0, 0, "write"),
        (0.7, 3, "sample"),
    ]
    assert [(a["temperature"], a["seed"], a["before"], a["seen"]) for a in decoder.asked] == [
        (0.0, 1, "b", "s"),
        (0.7, 2, "b", "s"),
    ]


def test_where_grammars_do_not_hold_the_program_is_written_freely():
    complete = replies("```python\nprint(1)\n```")
    drawn = samples([], complete, count=1, temperature=0.7, decoder=Decoding(None), stopped=lambda: True)
    assert [program.source for program in drawn] == ["print(1)\n"]
    assert complete.asked[0]["temperature"] == 0.0


def test_a_reply_without_a_program_counts_as_stopped():
    complete = replies("no code")
    decoder = Decoding("print(2)\n")
    drawn = samples([], complete, count=2, temperature=0.7, decoder=decoder)
    assert [program.source for program in drawn] == ["print(2)\n"]
    assert decoder.told == [False, True]


def test_a_missing_or_surplus_variable_of_a_prompt_is_an_error():
    with pytest.raises(KeyError, match="stubs"):
        fill("task", task="x")
    with pytest.raises(KeyError, match="colour"):
        fill("task", task="x", stubs="y", colour="z")
