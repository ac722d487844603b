"""Comparison of the records that a run wrote with the expected ones, by service and collection."""

from toolflow_bench.final_state import find_difference, is_all_but


def test_the_first_difference_is_described():
    assert find_difference({"s": {"c": [{"a": 1}]}}, {"s": {"c": [{"a": 1}]}}) is None
    assert find_difference({"s": {"c": [{"a": 1}]}}, {"s": {"c": [{"a": 2}]}}) is not None
    assert (
        find_difference({"s": {"c": [{"a": 1.0}]}}, {"s": {"c": [{"a": 1.05}]}}, tolerance=0.1)
        is None
    )


def test_only_so_many_records_may_be_missing():
    wanted = {"s": {"c": [{"a": 1}, {"a": 2}]}}
    assert is_all_but(wanted, wanted, 0)
    assert is_all_but({"s": {"c": [{"a": 2}]}}, wanted, 1)
    assert not is_all_but({}, wanted, 1)
    assert not is_all_but({"s": {"c": [{"a": 1}, {"a": 3}]}}, wanted, 2)
    assert not is_all_but({"s": {"c": [{"a": 1}, {"a": 2}, {"a": 2}]}}, wanted, 2)
