"""Search for airports and airlines by the words in their names."""

from toolflow_bench.services.flights.names import match_score, plain_words, search_text


def test_names_are_matched_by_words():
    assert plain_words("La Guardia Intl.") == ["la", "guardia", "intl"]
    assert match_score(["la", "guardia"], search_text("La Guardia")) == 3
    assert match_score(["ohare"], search_text("La Guardia")) == 0
