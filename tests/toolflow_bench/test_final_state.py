"""Comparison of the records that a run wrote with the expected ones, by service and collection."""

from toolflow_bench.final_state import find_difference


def test_the_first_difference_is_described():
    assert find_difference({"s": {"c": [{"a": 1}]}}, {"s": {"c": [{"a": 1}]}}) is None
    assert find_difference({"s": {"c": [{"a": 1}]}}, {"s": {"c": [{"a": 2}]}}) is not None
    assert (
        find_difference({"s": {"c": [{"a": 1.0}]}}, {"s": {"c": [{"a": 1.05}]}}, tolerance=0.1)
        is None
    )
