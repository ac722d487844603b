"""`python -m benchmarks.decoding`: arms, rows and figures with scripted models, operations, names, and the judge."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("llguidance")

from atc.models.scripted import ScriptedModel
from benchmarks.decoding import funcqa
from benchmarks.decoding.arms import Arm, Row, report, run_arms
from protocols.ask import Powers
from toolflow_bench.rows import InvalidRunFile

QUESTIONS = [
    funcqa.Question(id="a", question="Add 2 and 3.", expected=5.0, gold=("add",)),
    funcqa.Question(id="b", question="Divide 1 by 0.", expected=1.0, gold=("divide",)),
]
POWERS = Powers(grammars=frozenset({"lark"}))


def arm(mode: str, docs: str = "full") -> Arm:
    return Arm(model="scripted", mode=mode, docs=docs)


def ask(
    folder: Path, *replies: object, modes: tuple[str, ...] = ("free", "calls"), seed: int = 0
) -> dict[Arm, list[Row]]:
    model = ScriptedModel(*replies, powers=POWERS)  # type: ignore[arg-type]
    path, asked = folder / "rows.jsonl", funcqa.FuncQa(model, seed=0)
    return run_arms([arm(mode) for mode in modes], QUESTIONS, model, asked, path=path, seed=seed)


def test_arms_are_graded_compared_and_continued(tmp_path: Path) -> None:
    rows = ask(tmp_path, "I would add them.", "divide(1, 0)", "add(2, 3)", "divide(1, 1)")
    figures = report(rows)
    free, calls = figures["arms"]["scripted free full"], figures["arms"]["scripted calls full"]
    assert (free["error"]["mean"], free["errors"], free["refused"], free["success"]["mean"]) == (
        0.5, "1 no-call", 1, 0.0,
    )  # fmt: skip
    assert (calls["error"]["mean"], calls["success"]["mean"], calls["questions"]) == (0.0, 1.0, 2)
    difference = figures["differences"]["scripted calls full - scripted free full"]
    assert (difference["error"]["mean"], difference["success"]["mean"], difference["only_it"]) == (-0.5, 1.0, 2)
    assert report(ask(tmp_path)) == figures  # nothing is asked again
    with pytest.raises(InvalidRunFile, match="holds work done otherwise"):
        ask(tmp_path, seed=1)


def test_a_name_that_does_not_exist_is_taken_for_one_that_ends_so(tmp_path: Path) -> None:
    rows = ask(tmp_path, "dd(2, 3)", "vide(1, 1)", modes=("fuzzy",))
    assert [row.correct for row in rows[arm("fuzzy")]] == [True, True]
