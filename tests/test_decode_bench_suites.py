"""The suites of single calls, with models that say what they are told to."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from atc.config import Config
from atc.decode.errors import Undecodable
from atc.models.scripted import ScriptedModel
from protocols.ask import Ask
from protocols.protocol import ToolProtocol
from protocols.toolbox import Tool
from toolflow_bench.decoding.figures import CallReport
from toolflow_bench.decoding.frame import Case, OpenModel, Wanted, blank
from toolflow_bench.decoding.funcqa.operations import operations
from toolflow_bench.decoding.funcqa.suite import run as run_funcqa
from toolflow_bench.decoding.kamel.suite import run as run_kamel
from toolflow_bench.decoding.restbench.turns import MOST_CALLS, Walker, callable_tools
from toolflow_bench.decoding.suites import SUITES, find_suite
from toolflow_bench.metrics import Row

QUESTIONS = [
    {"id": "a", "question": "What is 2 to the 5th?", "answer": 32, "calls": [{"raw": "<power>(2,5)=32"}]},
    {"id": "b", "question": "What is 7 plus 8?", "answer": 15, "calls": [{"raw": "<add>(7,8)=15"}]},
    {"id": "c", "question": "What is the pH of 0.001 M?", "answer": 3, "calls": [{"raw": "-<log>(0.001)=3"}]},
    {"id": "d", "question": "What is 4 divided by 2?", "answer": 2, "calls": [{"raw": "<divide>(4,2)=2"}]},
]


def opener(model: ScriptedModel) -> OpenModel:
    """Opens this model, whatever its name."""

    @contextmanager
    def opened(_name: str) -> Iterator[Ask]:
        yield model

    return opened


def run(suite: Any, model: ScriptedModel, folder: Path, **wanted: Any) -> CallReport:
    """Run a suite without a watch."""
    asked = Wanted(suite="s", folder=folder / "rows", models=("scripted",), **wanted)
    report = suite(asked, opener(model), Config(), lambda *_: None, lambda _: None)
    assert isinstance(report, CallReport)
    return report


def by_mode(report: CallReport, mode: str) -> list[Row]:
    """The rows of the only arm in a mode."""
    (rows,) = [rows for arm, rows in report.rows.items() if arm.mode == mode]
    return list(rows)


@pytest.fixture
def funcqa(tmp_path: Path) -> Path:
    """A folder with four questions."""
    (tmp_path / "one_hop.json").write_text(json.dumps({"one_hop": QUESTIONS}))
    return tmp_path


def test_funcqa_executes_and_judges_calls(funcqa: Path) -> None:
    model = ScriptedModel("power(2, 5)", "Sure! The call is `add(7, 9)`.", "log(0.001)", "divide(4, 0)")
    report = run(run_funcqa, model, funcqa, data=funcqa, modes=("free",), docs=("full",))
    rows = by_mode(report, "free")
    assert [row.correct for row in rows] == [True, False, True, False]
    assert [row.failure for row in rows] == ["", "wrong_answer", "", "refused"]
    assert [row.answer for row in rows] == ["32", "16", "-3.0", None]
    assert rows[0].gold == ("power",)
    assert rows[1].made[0]["arguments"] == {"a": 7, "b": 9}
    assert rows[0].made[0]["prompt_tokens"] == rows[0].input_tokens > 0
    (figures,) = report.figures
    assert figures.errors == {}
    assert figures.refused == 1


def test_funcqa_mends_the_free_replies_without_asking_again(funcqa: Path) -> None:
    model = ScriptedModel("er(2, 5)", "plus(7, 8)", "nothing to say", "divide(4, 2)")
    report = run(run_funcqa, model, funcqa, data=funcqa, modes=("free", "fuzzy"), docs=("full",))
    assert [row.failure for row in by_mode(report, "free")] == ["unknown-tool", "unknown-tool", "no-call", ""]
    fuzzy = by_mode(report, "fuzzy")
    assert [row.correct for row in fuzzy] == [True, False, False, True]
    assert fuzzy[0].made[0]["tool"] == "power"
    assert fuzzy[0].input_tokens == by_mode(report, "free")[0].input_tokens
    assert fuzzy[0].seconds >= by_mode(report, "free")[0].seconds


def test_funcqa_samples_again_where_nothing_is_enforced(funcqa: Path) -> None:
    model = ScriptedModel("er(2, 5)", "power(2, 5)", "add(7, 8)", "log(0.001)", "divide(4, 2)")
    report = run(run_funcqa, model, funcqa, data=funcqa, modes=("calls",), docs=("names",))
    rows = by_mode(report, "calls")
    assert all(row.correct for row in rows)
    assert rows[0].attempts == rows[0].model_calls == 2
    assert rows[0].made[0]["how"] == "resampled"
    assert rows[0].made[0]["prompt_tokens"] == rows[0].input_tokens // 2 > 0


def test_names_alone_make_a_shorter_prompt_with_the_question_last(funcqa: Path) -> None:
    model = ScriptedModel(*["add(7, 8)"] * 8)
    report = run(run_funcqa, model, funcqa, data=funcqa, modes=("free",))
    full, names = (report.figures[0].prompt_tokens, report.figures[1].prompt_tokens)
    assert full is not None
    assert names is not None
    assert full > names
    for prompt, row in zip(model.prompts, [*QUESTIONS, *QUESTIONS], strict=True):
        before, task = prompt[-1].content.split("Task: ")
        assert str(row["question"]) in task
        assert "permutate" in before
    assert len({prompt[-1].content.split("Task: ")[0] for prompt in model.prompts[:4]}) == 1


@pytest.fixture
def kamel(tmp_path: Path) -> Path:
    """A folder with three relations, and a test over two of them."""
    relations = {
        "P1": "employer(name): gets the employers of a person",
        "P2": "matches_played(title/name): gets the number of matches.",
        "P3": "employer(company): gets something else",
    }
    tests = {"2": [{"question": "Who employed X?", "api": "P1"}, {"question": "How many did Y play?", "api": "P2"}]}
    (tmp_path / "relations_dev.json").write_text(json.dumps({"api_desc": relations, "tests": tests}))
    return tmp_path


def test_kamel_counts_the_relation_whatever_its_arguments(kamel: Path) -> None:
    model = ScriptedModel("employer('X', 'Y')", 'employer("Y")')
    report = run(run_kamel, model, kamel, data=kamel, relations=(2,), modes=("free",), docs=("full",))
    first, second = by_mode(report, "free")
    assert (first.correct, first.failure) == (True, "wrong-count")
    assert (second.correct, second.failure, second.gold) == (False, "wrong_answer", ("matches_played",))
    (figures,) = report.figures
    assert figures.error is not None
    assert figures.error.mean == 0.5


def test_kamel_offers_more_relations_than_are_asked_about(kamel: Path) -> None:
    model = ScriptedModel('employer_employers("X")', 'matches_played("Y")')
    report = run(run_kamel, model, kamel, data=kamel, relations=(3,), modes=("calls",), docs=("names",))
    assert all(row.correct for row in by_mode(report, "calls"))
    assert report.notes == ("3 relations are offered, and asked is what the test over 2 asks.",)
    assert all("employer_something" in prompt[-1].content for prompt in model.prompts)


def test_kamel_is_measured_by_names_and_with_documentation(kamel: Path) -> None:
    model = ScriptedModel(*['employer("X")'] * 6)
    report = run(run_kamel, model, kamel, data=kamel, relations=(2,))
    assert [(arm.mode, arm.docs) for arm in report.rows] == [("calls", "names"), ("free", "full"), ("calls", "full")]


def turn(tool: str, arguments: dict[str, Any]) -> str:
    """A turn of ReAct."""
    return f"Thought: go on\nAction: {tool}\nAction Input: {json.dumps(arguments)}\n"


def walk(model: ScriptedModel, *, gold: Sequence[str]) -> Row:
    """A task of FuncQA's operations, walked like one of RestBench."""
    tools, _ = callable_tools(list(operations().values()))
    walker = Walker(ask=model, tools=tools, docs="names", decoding="off")
    return walker.walk(blank(Case(id="t", question="Add, then halve.", gold=tuple(gold)), seed=0))


def test_a_task_is_walked_until_it_is_finished() -> None:
    model = ScriptedModel(
        turn("add", {"a": 1, "b": 2}),
        "Action: nonsense",
        turn("divide", {"a": 3, "b": 0}),
        turn("divide", {"a": 3, "b": 2}),
        turn("finish", {"answer": "1.5"}),
    )
    row = walk(model, gold=["add", "divide"])
    assert (row.correct, row.cp, row.status, row.answer, row.limit) == (True, True, "solved", "1.5", None)
    assert [call["outcome"] for call in row.made] == ["done", "not_run", "refused", "done", "not_run"]
    told = [message.content for message in model.prompts[-1] if message.role == "user"]
    assert told[-4] == "Observation: 3"
    assert "no result" in told[-2]
    assert row.calls == 3
    assert row.made[0]["prompt_tokens"] < row.made[-1]["prompt_tokens"]


def test_a_task_that_goes_nowhere_ends() -> None:
    row = walk(ScriptedModel(*[turn("add", {"a": 1, "b": 2})] * MOST_CALLS), gold=["add", "divide"])
    assert (row.correct, row.failure, row.status) == (False, "wrong_path", "failed")
    assert len(row.made) == MOST_CALLS
    assert row.limit is not None


def test_a_task_is_given_up_after_errors_in_a_row() -> None:
    model = ScriptedModel("nothing", turn("nothing", {}), turn("add", {}))
    row = walk(model, gold=["add"])
    assert [call["class"] for call in row.made] == ["no-call", "unknown-tool", "missing-argument"]
    assert (row.limit, row.status) == ("max_errors = 3", "failed")


def test_arguments_that_nobody_can_give_are_told() -> None:
    impossible = {"type": "string", "enum": [0, 1]}
    properties = {"id": {"type": "integer"}, "state": impossible}
    schema = {"type": "object", "properties": properties, "required": ["id"]}
    tool = Tool(ToolProtocol(name="find", input_schema=schema), lambda _: None)
    tools, notes = callable_tools([tool])
    assert list(tools) == ["find"]
    assert len(notes) == 1
    assert notes[0].startswith("find: an argument cannot be given, /properties/state")
    with pytest.raises(Undecodable):
        callable_tools(
            [Tool(ToolProtocol(name="find", input_schema={**schema, "required": ["state"]}), lambda _: None)]
        )


@pytest.mark.parametrize("name", SUITES)
def test_every_suite_can_be_found(name: str) -> None:
    assert callable(find_suite(name))
