"""Roles of tools and arguments, as their protocols declare them."""

from probing.tool_roles import is_same_noun


def test_nouns_are_compared():
    assert is_same_noun("alert", "storm_alert")
    assert not is_same_noun("alert", "user")
