"""Similarity of two questions."""

from toolflow_bench.checks.wording import shingles


def test_questions_are_alike_by_word_triples():
    assert sorted(shingles("Which films are long?")) == [
        ("films", "are", "long"),
        ("which", "films", "are"),
    ]
    assert len(shingles("Which films")) > 0
