"""Comparison of answers with the expected items of a list or set, see `toolflow_bench.grade`."""

from toolflow_bench.answer_items import iter_readings


def test_an_answer_is_read_as_items():
    assert ["a", "b"] in list(iter_readings("a, b"))
    assert ["a", "b"] in list(iter_readings("- a\n- b"))
    assert [1, 2] in list(iter_readings("[1, 2]"))
