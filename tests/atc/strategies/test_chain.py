"""The pipeline from task to solution, driven by scripted replies over the real sandbox."""

from dataclasses import replace

import pytest

from atc.agent import Agent
from atc.archive.learned_schemas import LearnedSchemas
from atc.core.config import Config
from atc.core.events import AttemptEnded, NoteAdded, ProgramWritten, ToolsChosen
from atc.models.scripted import ScriptedModel
from atc.store import Store
from atc.strategies.chain import UNCHANGED
from protocols.errors import ToolError
from protocols.toolbox import Toolbox
from tests.labs.tools import fenced, record, tool

PEOPLE = [
    {"id": f"p{n}", "name": name}
    for n, name in enumerate(["Ada", "Grace", "Edsger", "Barbara", "Donald"])
]
PAGE = record(
    people={"type": "array", "items": record(id="string", name="string")},
    page="integer",
    pages="integer",
)
PAGES = {
    "page": {"type": "integer", "default": 1},
    "page_size": {"type": "integer", "default": 2, "maximum": 4},
}


@pytest.fixture
def toolbox(sent):
    def list_people(arguments):
        page, size = arguments.get("page", 1), arguments.get("page_size", 2)
        pages = -(-len(PEOPLE) // size)
        return {"people": PEOPLE[size * (page - 1) : size * page], "page": page, "pages": pages}

    def get_note(arguments):
        if arguments["id"] == "p9":
            raise ToolError(404, "no such person")
        return {"text": f"note of {arguments['id']}", "extra": {"stars": 5}}

    def send_mail(arguments):
        if arguments["to"] == "nowhere":
            raise ToolError(None, "timed out", outcome="unknown")
        return {"mail_id": f"m{len(sent)}"}

    return Toolbox(
        [
            tool("list_people", list_people, PAGES, PAGE, sent=sent),
            tool("get_note", get_note, {"id": "string"}, sent=sent),
            tool("send_mail", send_mail, {"to": "string"}, reads=False, sent=sent),
        ]
    )


@pytest.fixture
def solve(toolbox, sandbox):
    def run(*replies, task="Do it.", store=None, tools=toolbox, learned=None, **settings):
        model = ScriptedModel(
            *(fenced(r) if isinstance(r, str) and "(" in r else r for r in replies)
        )
        config = Config(**{"samples": 1, **settings})
        agent = Agent(
            tools, model=model, sandbox=sandbox, config=config, store=store, learned=learned
        )
        events = []
        solution = agent.run(task, observer=events.append)
        return solution, model, events

    return run


def test_two_faults_then_solved(solve, sent):
    """A repair sees every earlier attempt, and what was really there."""
    solution, model, events = solve(
        "print(get_nothing(id='p1'))",  # stopped by the check
        "print(get_note(id='p1')['rating'])",  # fails when it runs: nobody declared the response
        "print(get_note(id='p1')['extra']['stars'])",
    )
    assert (solution.status, solution.answer, solution.repairs) == ("solved", "5", 2)
    assert [attempt.fault and attempt.fault.kind for attempt in solution.attempts] == [
        "unknown_tool",
        "misread_result",
        None,
    ]
    assert solution.attempts[0].trace is None
    assert sent == [
        ("get_note", {"id": "p1"})
    ]  # the last program's call was answered by the journal
    assert solution.call_count == 1
    assert [
        type(event)
        for event in events
        if isinstance(event, ToolsChosen | ProgramWritten | AttemptEnded)
    ] == [
        ToolsChosen,
        *[ProgramWritten, AttemptEnded] * 3,
    ]
    last = "\n".join(message.content for message in model.prompts[-1])
    assert "get_nothing" in last
    assert "print(get_note(id='p1')['rating'])" in last
    for shown in ("'rating'", "text", "extra", "def get_note(*, id: str)"):
        assert shown in model.prompts[-1][-1].content


@pytest.mark.parametrize(("samples", "asked"), [(1, 2), (3, 4)])
def test_an_unchanged_program_is_not_run_again(solve, sent, samples, asked):
    """Each further reply is drawn to the prompt that shows the fault, and only where the one before was nothing new."""
    solution, model, events = solve(*["print(get_note(id='p9'))"] * 9, samples=samples)
    assert (solution.status, len(solution.attempts), len(sent), len(model.prompts)) == (
        "failed",
        1,
        1,
        asked,
    )
    assert len({tuple(prompt) for prompt in model.prompts}) == 2
    assert [options["temperature"] > 0 for options in model.options] == [
        False,
        False,
        *[True] * (samples - 1),
    ]
    assert [event.sentence for event in events if isinstance(event, NoteAdded)] == [UNCHANGED]


def test_a_fault_is_shown_before_any_other_sample(solve, sent):
    wrong = ["print(no_tool())", "print(get_note(id='p9'))", "print(None)\nget_note(id='p1')"]
    for first in wrong:
        solution, model, _ = solve(first, "print(get_note(id='p2')['text'])", samples=4)
        assert (solution.answer, solution.repairs, len(model.prompts)) == ("note of p2", 1, 2)
        assert len(model.prompts[1]) == len(model.prompts[0]) + 2
        assert [options["temperature"] for options in model.options] == [0.0, 0.0]


def test_none_stands_where_the_task_allows_for_it(solve):
    """Elsewhere it is doubted once, with what the calls returned in view, and stands when it comes twice."""
    nothing = "note = get_note(id='p1')\nprint(note.get('nothing'))"
    solution, model, _ = solve(nothing, task="What is it? If there isn't one, say so.")
    assert (solution.status, solution.answer, len(model.prompts)) == ("solved", "None", 1)
    doubted, model, _ = solve(nothing, nothing, task="What is it?")
    assert (doubted.status, doubted.answer, len(model.prompts)) == ("solved", "None", 2)
    assert "get_note(id=\"p1\") gave {'text': 'note of p1'" in model.prompts[1][-1].content
    refused = "try:\n    print(get_note(id='p9'))\nexcept ToolError as error:\n    print('Sorry:', error.status)"
    for program, answer in ((nothing, "None"), (refused, "Sorry: 404")):
        unasked, _, _ = solve(program, task="What is it?", max_repairs=0)
        assert (unasked.status, unasked.answer, len(unasked.doubts)) == ("unsure", answer, 1)


RECORD = "print(get_note(id='p1'))"
NOTHING = "print(get_note(id='p1').get('nothing'))"
SLIP = "print(list_people()['folk'][0])"


def test_a_doubt_is_told_after_the_last_repair(solve):
    solution, model, _ = solve(SLIP, RECORD, "SAME", task="What is it?", max_repairs=1)
    assert (solution.status, solution.doubts, len(model.prompts)) == ("solved", (), 3)
    assert "reply with the one word SAME" in model.prompts[2][-1].content


def test_an_answer_outlives_a_program_that_fails(solve):
    solution, _, _ = solve(RECORD, SLIP, SLIP, task="What is it?", max_repairs=1)
    assert (solution.status, solution.answer) == ("unsure", solution.attempts[0].answer)
    assert solution.doubts == solution.attempts[0].doubts


def test_a_small_model_confirms_nothing_by_repeating(solve):
    solution, _, _ = solve(*[NOTHING] * 5, task="What is it?", samples=3)
    assert (solution.status, solution.answer) == ("unsure", "None")
    better, _, _ = solve(NOTHING, "print(get_note(id='p1')['text'])", task="What is it?", samples=3)
    assert (better.status, better.answer) == ("solved", "note of p1")


def test_an_answer_given_again_is_confirmed(solve):
    again = "note = get_note(id='p1')\nprint(note.get('nothing'))"
    solution, model, _ = solve(NOTHING, again, task="What is it?")
    assert (solution.status, solution.answer, len(model.prompts)) == ("solved", "None", 2)


def test_a_look_is_shown_and_costs_no_repair(solve, sent):
    looks = "people = list_people(page=3)\nlook(people)\nlook(len(people))"
    solution, model, _ = solve(looks, SLIP, "print(list_people(page=3)['page'])", max_repairs=1)
    assert (solution.status, solution.answer, solution.repairs) == ("solved", "3", 1)
    assert "'name': 'Donald'" in model.prompts[1][-1].content
    assert sent.count(("list_people", {"page": 3})) == 1


@pytest.mark.parametrize(
    "source", ["print(len([people[0]]))", "count = len(['a', 'b'])\nprint(f'{count}')"]
)
def test_an_unchangeable_answer_is_a_fault(solve, sent, source):
    solution, model, _ = solve(
        f"people = list_people()['people']\n{source}", "print(list_people(page=3)['page'])"
    )
    assert ([found.code for found in solution.attempts[0].findings], solution.answer) == (
        ["fixed-answer"],
        "3",
    )
    assert sent == [("list_people", {"page": 3})]
    assert "the same whatever the functions return" in model.prompts[1][-1].content


WRONG = {
    "type": "object",
    "properties": {"stars": {"type": "integer"}},
    "additionalProperties": False,
}


@pytest.mark.parametrize("writes", ["", "mail = send_mail(to='p1')\n"])
def test_a_wrong_document_stops_a_program_once(solve, toolbox, sent, tmp_path, writes):
    """The model insists: the reads are made, and what came outranks the document, in this run and in the next one."""
    tools = toolbox.map(
        lambda t: (
            replace(t, protocol=replace(t.protocol, output_schema=WRONG))
            if t.alias == "get_note"
            else t
        )
    )
    program = f"note = get_note(id='p1')\n{writes}print(note['extra']['stars'])"
    with Store(tmp_path / "runs.sqlite") as store:
        kept = {
            "tools": tools,
            "learned": LearnedSchemas(tmp_path),
            "store": store,
            "allow_writes": ("all",),
        }
        kept["trust"] = ("value=p1",)
        solution, model, _ = solve(program, program, **kept)
        shown, next_model, _ = solve(program, **kept)
    assert [found.code for found in solution.attempts[0].findings] == ["missing-key"]
    assert (solution.status, solution.answer, len(model.prompts)) == ("solved", "5", 2)
    assert [name for name, _ in sent] == ["get_note", *["send_mail"] * bool(writes)] * 2
    assert (shown.answer, len(next_model.prompts)) == ("5", 1)


def test_a_forbidden_value_is_doubted(solve, sent):
    """The model insists that a page is a list: the read is made and shows that it is none."""
    slip = "people = list_people()\nmine = [one for one in people['people'] if one['id'] == 5]\nprint(len(people))"
    solution, model, _ = solve(
        slip, f"{slip}\n", "print(list_people(page=3)['page'])", strategy="chain"
    )
    assert (solution.answer, sent) == ("3", [("list_people", {}), ("list_people", {"page": 3})])
    assert [attempt.answer for attempt in solution.attempts] == [None, "3", "3"]
    assert "counts its keys" in model.prompts[2][-1].content


def test_a_slip_is_mended_without_asking_the_model(solve):
    solution, model, _ = solve("for person in list_people(page=3):\n    print(person.name)")
    assert (solution.answer, len(model.prompts)) == ("Donald", 1)
    assert "list_people(page=3)['people']" in solution.attempts[0].program.source
    assert solution.attempts[0].mended


def test_unread_pages_are_read_without_the_model(solve, sent):
    solution, model, _ = solve("print(len(list_people()['people']))")
    assert (solution.answer, len(model.prompts)) == ("5", 1)
    assert [finding.code for finding in solution.attempts[0].mended] == ["first-page-only"]
    assert sent == [
        ("list_people", {}),
        ("list_people", {"page_size": 4}),
        ("list_people", {"page_size": 4, "page": 2}),
    ]
    assert solution.call_count == 3


def test_a_repair_may_name_single_lines(solve, sent):
    solution, model, _ = solve(
        "note = get_note(id='p1')\nprint(note['rating'])",
        "line 2: print(note['extra']['stars'])",
    )
    assert (solution.status, solution.answer, len(sent)) == ("solved", "5", 1)
    assert "each as `line N: new text`" in model.prompts[1][-1].content
    assert solution.attempts[-1].program.source.startswith("note = get_note(id='p1')\n")
