"""CodeAct: blocks of code over several turns, driven by scripted replies over the real sandbox."""

from __future__ import annotations

import pytest

from atc.strategies import codeact
from atc.strategies.codeact import parse_reply
from protocols.errors import ToolError
from protocols.toolbox import Toolbox
from tests.labs.acting import Lab, World, told
from tests.labs.tools import fenced, tool

LIST = "people = list_people()\nprint(people)"


@pytest.fixture
def lab(sandbox):
    return Lab(World(), sandbox)


@pytest.fixture
def sent(lab):
    return lab.world.sent


@pytest.fixture
def solve(lab):
    def run(*replies, **settings):
        return lab(
            codeact.solve,
            *(fenced(r) if "(" in r and "`" not in r else r for r in replies),
            **settings,
        )

    return run


def output(text):
    return f"Output:\n\n```\n{text}\n```"


def test_blocks_act_in_one_session_until_the_answer(solve, sent):
    solution, model = solve(
        f"First I look.\n\n{fenced(LIST)}",
        "note = get_note(id=people['people'][1])\nnote['text']",
        "That is all.\nAnswer: bread",
    )
    assert (solution.status, solution.answer, solution.call_count, solution.repairs) == (
        "solved",
        "bread",
        2,
        0,
    )
    assert sent == [("list_people", {}), ("get_note", {"id": "p1"})]
    assert told(model, 1) == output(str({"people": ["p0", "p1"]}))
    assert told(model, 2) == output("bread")
    assert [m.content for m in model.prompts[2][-4::2]] == [
        f"First I look.\n\n{fenced(LIST)}", fenced("note = get_note(id=people['people'][1])\nnote['text']"),
    ]  # fmt: skip


def test_a_session_continues_after_a_traceback(solve, sent):
    solution, model = solve(
        LIST,
        "note = get_note(id='p1')\nprint('half')\nprint(note['rating'])\nlater = 1",
        "print(note['text'])",
        "print(later)",
        "Answer: bread",
    )
    assert (solution.status, solution.answer, solution.repairs) == ("solved", "bread", 2)
    assert told(model, 2) == output(
        'half\nTraceback (most recent call last):\n  File "program.py", line 9, in <module>\n'
        "    print(note['rating'])\nKeyError: 'rating'"
    )
    assert told(model, 3) == output("bread")  # what stood before the failure was done
    assert "NameError: name 'later' is not defined" in told(model, 4)  # and nothing behind it
    assert "note['rating']" in model.prompts[4][-6].content  # what failed stays told
    assert sent == [("list_people", {}), ("get_note", {"id": "p1"})]
    assert [attempt.findings for attempt in solution.attempts] == [()] * 5


def test_a_function_of_an_earlier_block_still_prints(solve):
    _, model = solve("def show(x):\n    print('shown', x)\nshow(1)", "show(2)", "Answer: 2")
    assert told(model, 1) == output("shown 1")
    assert told(model, 2) == output("shown 2")


def test_a_block_that_failed_stays_silent(lab, sent, monkeypatch):
    """Its failed call fails again, though an equal call succeeded since, and what follows it is not run."""
    answers = iter([ToolError(500, "down"), {"text": "bread"}])

    def get_flaky(_):
        answer = next(answers)
        if isinstance(answer, ToolError):
            raise answer
        return answer

    tools = [*lab.world.toolbox.values(), tool("get_flaky", get_flaky, sent=sent)]
    monkeypatch.setattr(World, "toolbox", Toolbox(tools))
    blocks = [
        "print('one')",
        "print('two')\nget_flaky()\nprint('three')\nlist_people()",
        "print(get_flaky()['text'])",
        "print('four')",
    ]
    solution, model = lab(codeact.solve, *map(fenced, blocks), "Answer: bread")
    assert (solution.answer, sent) == ("bread", [("get_flaky", {})] * 2)
    assert told(model, 3) == output("bread")
    assert told(model, 4) == output("four")


def test_an_exiting_block_keeps_the_session(solve):
    solution, model = solve("import sys\nx = 1\nsys.exit()", "print(x)", "Answer: 1")
    assert (solution.answer, told(model, 1)) == ("1", output("(nothing was printed)"))
    assert told(model, 2) == output("1")


def test_a_block_excludes_an_answer(solve, sent):
    both = f"{fenced(LIST)}\nOutput:\n```\n[]\n```\nAnswer: none"
    solution, model = solve(both, "Answer: 3")
    assert (solution.answer, len(sent)) == ("3", 1)
    assert model.prompts[1][-2].content == fenced(LIST)  # what the model made up is not kept


@pytest.mark.parametrize(
    ("text", "answer", "code"),
    [
        ("Answer: 5", "5", None),
        ("Thought: done.\n**Answer:** Ada\n", "Ada", None),
        ("Final answer: a\nb", "a\nb", None),
        ("Answer: `5`\n\nThe note of p0 says so.", "5", None),
        ("Answer:\n```python\nprint(6)\n```", None, "print(6)\n"),
        ("```python\n# Answer: 5\nprint(6)\n```", None, "# Answer: 5\nprint(6)\n"),
        ("```python\nprint(6)", None, "print(6)\n"),
    ],
)
def test_what_stands_in_a_reply(text, answer, code):
    found = parse_reply(text)
    assert (found.answer, found.code and found.code.source) == (answer, code)
