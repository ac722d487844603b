"""Hints."""

from probing.argument_hints import read_requirement


def test_a_clause_states_what_a_value_must_be():
    assert [hint.kind for hint in read_requirement("must be an integer")] == ["type"]
    assert [
        (hint.minimum, hint.maximum) for hint in read_requirement("must be between 1 and 50")
    ] == [(1, 50)]
    assert [hint.values for hint in read_requirement("must be one of asc, desc")] == [
        ("asc", "desc")
    ]
    assert read_requirement("is wrong") == []
