"""The random mark of one probing run, which tells the records that it created from all others."""

from probing.marker import is_number_or_time


def test_numbers_and_times_carry_no_mark():
    assert is_number_or_time("2024-01-15T00:00:00Z")
    assert is_number_or_time("12:00")
    assert is_number_or_time("3.5")
    assert not is_number_or_time("order 66")
