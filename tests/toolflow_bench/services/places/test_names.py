"""Normalization of place names, and opaque ids of places."""

from toolflow_bench.services.places.names import place_id, plain_words, telling_words


def test_place_names_are_normalized():
    assert plain_words("São Tomé-Île") == "sao tome ile"
    assert telling_words("Oslo Airport Gardermoen") == ["oslo", "gardermoen"]
    assert place_id("ci", 1)[:3] == "ci_"
