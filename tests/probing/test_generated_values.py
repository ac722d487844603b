"""Invented values for an argument, by its type and limits, else by its name."""

from probing.generated_values import finite, guess_values, number_of


def test_values_follow_the_name_and_are_finite():
    assert finite(float("nan")) is None
    assert finite(2) == 2
    assert number_of("3.5") == 3.5
    assert number_of("x") is None
    assert guess_values("zzz") == ()
    assert len(guess_values("country")) > 0
