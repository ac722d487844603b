"""Values that a program hands to the host must be plain data of a bounded size."""

import datetime

import pytest

from sandbox.bounded_values import require_bounded


def nested(levels):
    value = []
    for _ in range(levels):
        value = [value]
    return value


def doubled(times):
    value = ["text"]
    for _ in range(times):
        value = [value, value]
    return value


@pytest.mark.parametrize("value", [None, 2.5, {"a": [1, {"b"}]}, datetime.date(2013, 7, 4)])
def test_plain_data_is_returned_unchanged(value):
    assert require_bounded(value) is value


@pytest.mark.parametrize(
    "value", [nested(100), doubled(60), "x" * (1 << 20), object(), [{"key": print}]]
)
def test_other_values_are_refused(value):
    with pytest.raises(ValueError, match="more than can be sent"):
        require_bounded(value)
