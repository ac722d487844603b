"""What ReAct and DFSDT are told, word for word."""

from types import SimpleNamespace

import pytest

from atc.prompts import fill
from atc.strategies import react
from atc.strategies.turns.acting import offered
from tests.acting_lab import World, finish

RULES = """\
You solve a task by calling functions, one at a time. They call real services. Each of your replies is one step, of \
three lines:

Thought: what is known by now and what is to be found out next, in one sentence
Action: the name of a function
Action Input: its arguments, as one JSON object

Then you are shown the observation, which is what the function returned, and write the next step.

Rules:
- Use only functions that are given, and only arguments that they take. Use no other way to get data.
- Codes and ids that the task does not give come from an observation. Never make them up.
- A result with page and pages holds only one page: ask for the next ones, too.
- An observation that begins with "Error" says why a call failed: correct it, or try something else.
- Never write an observation yourself.
- When you know the answer, end with the function finish. Its argument `answer` is the answer without a sentence \
around it: one value as it is, several as one list, pairs as a list of lists, None if there is nothing to answer \
with."""

BACK = """
- When the way you have taken leads nowhere, call go_back and say why in its argument `reason`: you are taken back \
some steps, and try another way from there."""

GIVE_UP = """
- When the task cannot be solved with these functions, call give_up: say why in its argument `reason`, and name in \
`functions` those that do not fit the task or do not work."""

EXAMPLE = """\
Thought: Books are listed by the author's id, so the author has to be found first.
Action: search_authors
Action Input: {"name": "Ursula Le Guin"}
Observation: [{'author_id': 'a17', 'name': 'Ursula K. Le Guin'}]
Thought: The author is a17; now the books of 1974.
Action: list_books
Action Input: {"author_id": "a17", "year": 1974}
Observation: {'books': [{'title': 'The Dispossessed', 'length': 341, 'publisher_id': 'p4'}, {'title': 'Tales', \
'length': None, 'publisher_id': 'p2'}], 'page': 1, 'pages': 1}
Thought: The longest book is The Dispossessed, and its publisher has the id p4.
Action: get_publisher
Action Input: {"publisher_id": "p4"}
Observation: {'publisher_id': 'p4', 'name': 'Harper & Row', 'city': 'New York'}
Thought: The publisher's name is known, and that is the answer.
Action: finish
Action Input: {"answer": "Harper & Row"}"""

TASK = '''\
Functions:

```python
def list_people() -> Any:
    """list_people does it."""

def get_note(*, id: str) -> Any:
    """get_note does it."""
```

Task: Whose note is it?'''

NAMES = """\
Functions:

```python
list_people
get_note
```

Task: Whose note is it?"""

AGAIN = """\
You have been at this point before. What you did then has not led to an answer:

Action: list_people
Observation: []

Do not do any of it again. Take another function now, or other arguments, with a thought that you did not have then."""


@pytest.fixture
def box():
    return World().toolbox.only(["list_people", "get_note"])


def opened(box, *, docs="full", **ends):
    parts = SimpleNamespace(config=SimpleNamespace(docs=docs), prompt_tokens=4_000)
    return react.opening(
        "Whose note is it?", box, offered(box, **ends), budget=parts.prompt_tokens, docs=parts.config.docs
    )


def test_the_opening(box):
    rules, asked, *example, task = opened(box)
    assert rules.content == RULES
    assert asked.content == fill("example_task")
    assert "\n".join(message.content for message in example) == EXAMPLE
    assert [message.role for message in example] == ["assistant", "user"] * 3 + ["assistant"]
    assert task.content == TASK


def test_the_ways_to_end(box):
    assert opened(box, back=True)[0].content == RULES + BACK
    assert opened(box, back=True, give_up=True)[0].content == RULES + BACK + GIVE_UP


def test_names_alone_where_no_more_is_told(box):
    messages = opened(box, docs="names")
    assert messages[1].content == fill("example_task_names")
    assert messages[-1].content == NAMES


def test_the_example_is_written_as_real_turns_are(box):
    last = opened(box)[-2].content.splitlines()
    assert last[1:] == finish("Harper & Row").splitlines()[1:]


def test_what_is_said_on_the_way():
    assert fill("dfsdt_again", before="Action: list_people\nObservation: []") == AGAIN
    left_out = "(The first 3 steps after this are left out here, for want of room.)"
    assert fill("turns_left_out", count="3") == left_out
