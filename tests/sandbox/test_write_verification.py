"""Verification of writes."""

from sandbox.write_verification import new_records


def test_new_records_are_counted():
    assert new_records([{"a": 1}], [{"a": 1}, {"a": 1}, {"b": 2}]) == [{"a": 1}, {"b": 2}]
