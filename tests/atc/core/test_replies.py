"""Programs in the replies of a language model."""

import pytest

from atc.core.replies import is_repeating, program_in_reply

PROGRAM = "x = find(name='a')\nprint(x)\n"


@pytest.mark.parametrize(
    "reply",
    [
        f"```python\n{PROGRAM}```",
        f"Here it is:\n\n```python\n{PROGRAM}```\nIt prints x.",
        f"```Python\n{PROGRAM}",  # cut off before the fence was closed
        PROGRAM,
        f"   ```py\n{PROGRAM}   ```",
    ],
)
def test_the_program_is_found(reply):
    assert program_in_reply(reply).source == PROGRAM


@pytest.mark.parametrize("reply", ["", "I cannot do that.", "```python\n```", "42"])
def test_no_program_is_none(reply):
    assert program_in_reply(reply) is None


def test_a_block_with_syntax_errors_is_a_program():
    assert program_in_reply("```python\nprint(\n```").source == "print(\n"


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
        f"```python\n{STUBS}```\n\n```python\n{PROGRAM}```",
        f"{STUBS}\n{PROGRAM}",
        f"```python\ndef find(*, name):\n    ...\n{PROGRAM}```",
    ],
)
def test_what_repeats_the_given_functions_is_left_out(reply):
    source = program_in_reply(reply).source
    assert source.endswith(PROGRAM)
    assert "def find" not in source


@pytest.mark.parametrize("reply", [f"```python\n{STUBS}```", f"```python\nimport json\n{STUBS}"])
def test_a_reply_of_nothing_else_is_no_program(reply):
    assert program_in_reply(reply) is None


@pytest.mark.parametrize(
    "source",
    [
        "def show(x):\n    print(x)\n\n\nshow(1)\n",
        'def total(values):\n    """The sum."""\n    return sum(values)\n\n\nprint(total([1]))\n',
        "from typing import TypedDict\n\n\nclass P(TypedDict):\n    id: str\n\n\np: P = find(name='a')\nprint(p)\n",
    ],
)
def test_what_a_program_defines_for_itself_stays(source):
    assert program_in_reply(f"```python\n{source}```").source == source


LONG = "\n".join(
    f"result_{n} = get_film(film_id='fm_{n:05}')\nprint(result_{n}['title'])" for n in range(60)
)


@pytest.mark.parametrize(
    ("text", "circles"),
    [
        ("add_to_queue(uri='spotify:track:03YrJQ" + "zQw" * 80, True),
        ("x = 1\n" + "print(x)\n" * 27, True),
        ("if park['park_id'] == park['park_id']:\n    print(park['name'])\n" * 6, True),
        ("-" * 120, False),
        ("[" + "0, " * 60 + "0]", False),
        (LONG, False),
        (LONG[:300] * 3, False),
    ],
)
def test_only_endless_repetition_counts_as_repeating(text, circles):
    assert is_repeating(text) is circles
    assert not is_repeating(text + "done")
