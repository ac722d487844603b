"""Which route `auto` takes, and that a change of route loses nothing; driven by scripted replies."""

import pytest

from atc.agent import Agent
from atc.core.config import Config
from atc.core.events import ModelAsked, NoteAdded
from atc.models.scripted import ScriptedModel
from protocols.toolbox import Toolbox
from tests.labs.tools import tool as tool_of

STARS = {"type": "object", "properties": {"stars": {"type": "integer"}, "by": {"type": "string"}}}
NOTE = {"type": "object", "properties": {"text": {"type": "string"}, "extra": {}}}
STARRED = "note = get_note(id='p1')\nprint(add_star(id=note['text'])['stars'])"
STARRED_CALLS = [("get_note", {"id": "p1"}), ("add_star", {"id": "a note"})]
MISREAD = "print(get_note(id='{}')['extra']['stars'])"


@pytest.fixture
def tool(sent):
    def make(name, output, *, reads=True, result=None):
        answer = result or {"text": "a note", "extra": {"rated": {"stars": 5}}}
        return tool_of(name, answer, {"id": "string"}, output, reads=reads, sent=sent)

    return make


@pytest.fixture
def solve(sandbox):
    def run(toolbox, *replies, **settings):
        model = ScriptedModel(
            *(f"```python\n{r}\n```" if isinstance(r, str) else r for r in replies)
        )
        agent = Agent(toolbox, model=model, sandbox=sandbox, config=Config(samples=1, **settings))
        events = []
        return agent.run("Do it.", observer=events.append), model, events

    return run


def changes(events):
    head = "changing to step by step: "
    notes = [event.sentence for event in events if isinstance(event, NoteAdded)]
    return [note.removeprefix(head).rstrip(".") for note in notes if note.startswith(head)]


def steps(model, turn):
    """Whether a prompt asked for a piece."""
    return "piece by piece" in model.prompts[turn][0].content


def test_described_responses_are_left_to_one_program(solve, tool):
    solution, model, events = solve(
        Toolbox([tool("get_note", NOTE)]), "print(get_note(id='p1')['text'])"
    )
    assert (solution.answer, changes(events), steps(model, 0)) == ("a note", [], False)


@pytest.mark.parametrize("output", [None, {}, {"type": "object"}])
def test_undescribed_responses_are_read_by_one_program_first(solve, tool, sent, output):
    """It is told what nobody has described; once it misread something, it is shown what all of it looks like."""
    notes = [
        tool("get_note", output),
        tool("get_page", output, result={"pages": [{"size": 7}], "more": None}),
    ]
    solution, model, events = solve(
        Toolbox(notes),
        "note, page = get_note(id='p1'), get_page(id='p1')\nprint(note['rating']['stars'], page['size'])",
        "note, page = get_note(id='p1'), get_page(id='p1')\n"
        "print(note['extra']['rated']['stars'], page['pages'][0]['size'])",
    )
    assert (solution.status, solution.answer, len(sent), changes(events)) == (
        "solved",
        "5 7",
        2,
        [],
    )
    assert "None of these functions describes" in model.prompts[0][-1].content.partition("Task:")[2]
    assert (
        "get_page(id=\"p1\") gave {'pages': [{'size': 7}], 'more': None}"
        in model.prompts[1][-1].content
    )


@pytest.mark.parametrize(
    ("result", "source", "meant"),
    [
        (
            {"items": [{"n": 4}, {"n": 5}], "at": 3},
            "print(sum(r['n'] for r in get_rows(id='p1')))",
            "['items']",
        ),
        ({"total_count": 9}, "print(get_rows(id='p1')['count'])", "['total_count']"),
        (
            [{"n": {"totalCount": 9}}],
            "print(get_rows(id='p1')[0]['n']['total_count'])",
            "['totalCount']",
        ),
    ],
)
def test_sole_lists_and_near_keys_are_mended(solve, tool, sent, result, source, meant):
    solution, model, _ = solve(Toolbox([tool("get_rows", None, result=result)]), source)
    assert (solution.answer, len(model.prompts), len(sent)) == ("9", 1, 1)
    assert meant in solution.attempts[0].program.source
    assert solution.attempts[0].mended


@pytest.mark.parametrize(
    "source",
    [
        "note = get_note(id='p1')\nfor row in note['rows']:\n    add_star(id=row['id'])",
        "ids = []\nnote = get_note(id='p1')\nids.append(note['id'])\nprint([add_star(id=one) for one in ids])",
    ],
)
def test_nothing_relies_on_unseen_shapes(solve, tool, sent, source):
    tools = Toolbox(
        [tool("get_note", None), tool("add_star", STARS, reads=False, result={"stars": 6})]
    )
    solution, model, events = solve(tools, source, STARRED, allow_writes=("all",))
    assert (solution.answer, sent, changes(events)) == ("6", STARRED_CALLS, [])
    assert "has no key" in model.prompts[1][-1].content
    assert solution.repairs == 1


def test_a_fitting_first_program_is_run(solve, tool, sent):
    tools = Toolbox(
        [tool("get_note", None), tool("add_star", STARS, reads=False, result={"stars": 6})]
    )
    solution, model, _ = solve(tools, STARRED, allow_writes=("all",))
    assert (solution.answer, sent, len(model.prompts)) == ("6", STARRED_CALLS, 1)


def test_a_paused_first_program_is_resumed(sandbox, tool, sent, tmp_path):
    """Its response is known by then, but the same programs are executed."""
    tools = Toolbox(
        [tool("get_note", None), tool("add_star", STARS, reads=False, result={"stars": 6})]
    )
    model = ScriptedModel(f"```python\n{STARRED}\n```")
    how = {"model": model, "sandbox": sandbox, "store": tmp_path / "runs.sqlite"}
    with Agent(tools, config=Config(samples=1, state_dir=tmp_path), **how) as agent:
        paused = agent.run("Do it.")
        assert (paused.status, sent) == ("paused", STARRED_CALLS[:1])
    with Agent(
        tools, config=Config(samples=1, state_dir=tmp_path), allow_writes=("all",), **how
    ) as agent:
        solution = agent.resume(paused.run_id)
    assert (solution.status, solution.answer, sent) == ("solved", "6", STARRED_CALLS)


@pytest.mark.parametrize(
    "source",
    [
        "for one in ['p1']:\n    note = get_note(id=one)\n    stars = add_star(id=note['text'])",
        "stars = add_star(id=get_note(id='p1')['text'])",
        "if get_note(id='p1')['text']:\n    stars = add_star(id=get_note(id='p1')['text'])",
    ],
)
def test_a_read_before_a_write_may_stand_anywhere(solve, tool, sent, source):
    tools = Toolbox(
        [tool("get_note", None), tool("add_star", STARS, reads=False, result={"stars": 6})]
    )
    solution, model, events = solve(
        tools, f"{source}\nprint(stars['stars'])", allow_writes=("all",)
    )
    assert (solution.answer, changes(events), len(model.prompts)) == ("6", [], 1)
    assert [call for call in sent if call[0] == "add_star"] == STARRED_CALLS[1:]


def test_a_read_after_a_write_goes_stepwise(solve, tool, sent):
    tools = Toolbox(
        [
            tool("get_note", None),
            tool("get_more", None),
            tool("add_star", STARS, reads=False, result={"stars": 6}),
        ]
    )
    source = "add_star(id=get_note(id='p1')['text'])\nmore = get_more(id='p1')\n"
    solution, _, events = solve(
        tools, f"{source}print(add_star(id=more['text'])['stars'])",
        "note = get_note(id='p1')\nprint(note)",
        "print('ANSWER:', add_star(id=note['text'])['stars'])", allow_writes=("all",),
    )  # fmt: skip
    assert changes(events) == ["add_star may be given what get_more returns, which nobody has seen"]
    assert (solution.answer, sent) == ("6", STARRED_CALLS)


def test_a_program_without_a_due_write_runs(solve, tool, sent):
    tools = Toolbox(
        [tool("get_note", None), tool("add_star", STARS, reads=False, result={"stars": 6})]
    )
    source = "note = get_note(id='p1')\nif 'gone' in note:\n    add_star(id=note['gone'])\nprint(1)"
    solution, model, _ = solve(tools, source, allow_writes=("all",))
    assert (solution.answer, len(model.prompts), sent) == ("1", 1, [("get_note", {"id": "p1"})])


def test_two_misreadings_change_the_route(solve, tool, sent):
    solution, model, events = solve(
        Toolbox([tool("get_note", NOTE)]),
        MISREAD.format("p1"),
        "print(get_note(id='p1')['extra']['rating']['stars'])",
        "note = get_note(id='p1')\nprint(note)",
        "print('ANSWER:', note['extra']['rated']['stars'])",
    )
    assert (solution.status, solution.answer, len(solution.attempts), solution.repairs) == (
        "solved",
        "5",
        4,
        2,
    )
    assert [steps(model, turn) for turn in range(4)] == [False, False, True, True]
    assert sent == [("get_note", {"id": "p1"})]
    assert changes(events) == ["programs misread what get_note gave"]
    assert "'rated': {'stars': 5}" in model.prompts[2][-1].content
    assert solution.usage.model_calls == 4
    at = [type(event) for event in events if isinstance(event, ModelAsked | NoteAdded)]
    assert at == [ModelAsked, ModelAsked, NoteAdded, ModelAsked, ModelAsked]


def test_what_reads_print_is_no_answer(solve, tool, sent):
    tools = Toolbox(
        [tool("get_note", None), tool("add_star", STARS, reads=False, result={"stars": 6})]
    )
    source = "note = get_note(id='p1')\nprint('read')\nprint(add_star(id=note['body'])['stars'])"
    solution, _, _ = solve(tools, *[source] * 6, allow_writes=("all",))
    assert (solution.status, solution.answer, sent) == ("failed", None, STARRED_CALLS[:1])


def test_a_repeated_program_is_run_despite_its_reads(solve, tool, sent):
    """A key that the response lacks may be read only where it is present."""
    tools = Toolbox(
        [tool("get_note", None), tool("add_star", STARS, reads=False, result={"stars": 6})]
    )
    source = (
        "note = get_note(id='p1')\nname = note['text'] if note['extra'] else note['body']\n"
        "print(add_star(id=name)['stars'])"
    )
    solution, model, _ = solve(tools, source, source, allow_writes=("all",))
    assert (solution.status, solution.answer, sent) == ("solved", "6", STARRED_CALLS)
    assert "write the same program: it is executed then" in model.prompts[1][-1].content


@pytest.mark.parametrize("strategy", ["auto", "chain"])
def test_no_key_of_a_response_becomes_code(solve, tool, sent, strategy):
    key = '[add_star(id="x") and "sender_address"]'
    tools = Toolbox(
        [
            tool("get_note", None, result={key: "ann", "other": "b"}),
            tool("add_star", STARS, reads=False, result={"stars": 6}),
        ]
    )
    source = "print(get_note(id='p1')['sender_address'])"
    solve(tools, *[source] * 5, allow_writes=("all",), strategy=strategy)
    assert [name for name, _ in sent] == ["get_note"]
