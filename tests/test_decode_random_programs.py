"""The suite `programs`: what is asked, in which ways, and what rows of programs come to."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from atc.config import Config
from atc.models.scripted import ScriptedModel
from protocols.ask import Ask
from protocols.protocol import Annotations, ToolProtocol
from protocols.toolbox import Tool, Toolbox
from sandbox.zygote import ZygoteSandbox
from toolflow_bench.decoding.frame import Arm, Wanted
from toolflow_bench.decoding.programs.ask import ProgramCase, cases, services
from toolflow_bench.decoding.programs.figures import ProgramReport, figures, statements_of, what_is_unclean
from toolflow_bench.decoding.programs.suite import measure
from toolflow_bench.metrics import Row
from toolflow_bench.runner import Item
from toolflow_bench.task import InvalidTask, Question

RIGHT = 'film = find_film(title="Heat")\nprint(film["year"])\n'
UNCLEAN = 'film = find_film(title="Heat")\nprint(film["released"])\n'


class Cinema:
    """One tool over one film."""

    def __init__(self) -> None:
        answers = {"type": "object", "properties": {"title": {"type": "string"}, "year": {"type": "integer"}}}
        protocol = ToolProtocol(
            name="find_film",
            input_schema={"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]},
            output_schema={**answers, "required": ["title", "year"], "additionalProperties": False},
            annotations=Annotations(read_only=True),
        )
        self.toolbox = Toolbox([Tool(protocol=protocol, call=self.find)])

    def find(self, arguments: Mapping[str, Any]) -> Any:
        return {"title": arguments["title"], "year": 1995}

    def reset(self) -> None:
        pass

    def snapshot(self) -> dict[str, Any]:
        return {}


def case(number: int) -> ProgramCase:
    question = Question(
        id=f"q{number}", question=f"In which year came Heat out? ({number})", answer=1995, type="number"
    )
    return ProgramCase(id=question.id, question=question.question, expected=1995, item=Item(question=question))


@pytest.fixture(scope="module")
def sandbox() -> Iterator[ZygoteSandbox]:
    opened = ZygoteSandbox()
    yield opened
    opened.close()


def ask(folder: Path, sandbox: ZygoteSandbox, *replies: str, some: int = 2, **wanted: Any) -> ProgramReport:
    """The suite with a model that replies so; it holds its replies to nothing."""

    @contextmanager
    def open_model(name: str) -> Iterator[Ask]:
        assert name == "scripted"
        yield ScriptedModel(*[f"```python\n{reply}```" for reply in replies])

    @contextmanager
    def open_world() -> Iterator[Cinema]:
        yield Cinema()

    return measure(
        [case(number) for number in range(some)],
        Wanted(suite="programs", folder=folder, models=("scripted",), **wanted),
        open_model,
        Config(sandbox="zygote", state_dir=folder),
        lambda *_: None,
        open_world=open_world,
        sandbox=sandbox,
    )


def test_ten_questions_and_ten_tasks_are_drawn_by_seed() -> None:
    drawn = cases(sample=10, seed=0, data=None)
    assert [one.item.split for one in drawn] == ["flights"] * 10 + ["toolflow"] * 10
    assert drawn == cases(sample=10, seed=0, data=None)
    assert [one.id for one in drawn] != [one.id for one in cases(sample=10, seed=1, data=None)]
    assert all(one.item.candidates for one in drawn)
    assert services(drawn[:10]) == ("flights",)


def test_an_unknown_mode_is_told(tmp_path: Path, sandbox: ZygoteSandbox) -> None:
    with pytest.raises(InvalidTask, match="no mode named 'calls'"):
        ask(tmp_path, sandbox, RIGHT, modes=("calls",))


def test_first_programs_count_and_are_not_repaired(tmp_path: Path, sandbox: ZygoteSandbox) -> None:
    report = ask(tmp_path, sandbox, RIGHT, UNCLEAN, modes=("free",))
    (rows,) = report.rows.values()
    assert [row.correct for row in rows] == [True, False]
    assert [row.model_calls for row in rows] == [1, 1]
    assert what_is_unclean(rows[0]) == ()
    assert what_is_unclean(rows[1]) != ()
    (one,) = report.figures
    assert one.clean is not None
    assert one.clean.mean == 0.5
    assert list(one.unclean.values()) == [1]
    assert one.statements == 2


def test_what_was_asked_is_not_asked_again(tmp_path: Path, sandbox: ZygoteSandbox) -> None:
    ask(tmp_path, sandbox, RIGHT, RIGHT, modes=("free",))
    again = ask(tmp_path, sandbox, modes=("free",))  # a model without replies
    assert again.left == 0
    assert all(row.correct for rows in again.rows.values() for row in rows)


def row(number: int, *, source: str = RIGHT, correct: bool = True, findings: tuple[Any, ...] = (), **more: Any) -> Row:
    programs = (source,) if source else ()
    return Row(
        id=f"q{number}", question="", expected=1, needs=1, programs=programs, correct=correct, findings=findings,
        status="solved", split="flights", **more,
    )  # fmt: skip


def finding(code: str, *, certain: bool = True, mended: bool = False, attempt: int = 0) -> dict[str, Any]:
    return {"attempt": attempt, "code": code, "message": "m", "line": 1, "certain": certain, "mended": mended}


def test_what_is_mended_or_certain_is_unclean_and_what_may_be_is_not() -> None:
    assert what_is_unclean(row(0)) == ()
    assert what_is_unclean(row(0, findings=(finding("a", certain=False), finding("b", attempt=1)))) == ()
    assert what_is_unclean(row(0, findings=(finding("a", mended=True), finding("b"), finding("b")))) == ("a", "b")
    assert what_is_unclean(row(0, findings=(finding("first-page-only", mended=True),))) == (), "a response told it"
    assert what_is_unclean(row(0, source="")) == ("no program",)


def test_statements_in_blocks_count() -> None:
    assert statements_of("for x in y:\n    print(x)\n") == 2
    assert statements_of("for") == 0


def test_arms_are_compared_pair_by_pair() -> None:
    free = Arm(suite="programs", model="m", mode="free")
    program = replace(free, mode="program")
    report = ProgramReport(
        rows={
            free: [row(0, findings=(finding("missing-key"),), correct=False), row(1), row(2, source="", correct=False)],
            program: [row(0), row(1), row(2)],
        }
    )
    [(outcome, clean)] = report.differences.values()
    assert clean is not None
    assert clean.mean == pytest.approx(2 / 3)
    assert (outcome.only_b, outcome.only_a) == (2, 0)
    told = "\n".join(report.lines())
    assert "missing-key 1" in told
    assert "no program 1" in told
    assert json.loads(json.dumps(report.as_json()))["unclean"]["m free full"] == {
        "q0": ["missing-key: m (line 1)"],
        "q2": ["no program"],
    }


def test_outages_are_in_no_figure() -> None:
    arm = Arm(suite="programs", model="m", mode="free")
    some = [row(0), replace(row(1, correct=False), status="outage", error="down")]
    one = figures(arm, some)
    assert (one.questions, one.left) == (1, 1)
    assert one.success is not None
    assert one.success.mean == 1.0
    assert "q1 in m free full: down" in ProgramReport(rows={arm: some}).lines()
