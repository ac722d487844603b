"""Kinds of argument values that a program may choose itself."""

from atc.core.value_kinds import is_common, is_measure


def test_common_values_and_measures_are_known():
    assert is_common(5)
    assert not is_common(20_261_129)
    assert is_common("red")
    assert not is_common("b7f3-22")
    assert is_measure("radius_km")
    assert not is_measure("user_id")
