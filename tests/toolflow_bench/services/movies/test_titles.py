"""Normalization of film titles, and matching of titles from different sources."""

from toolflow_bench.services.movies.titles import Catalogue, key, keys, main_title, natural


def test_titles_are_normalized():
    assert natural("Matrix, The") == "The Matrix"
    assert main_title("Life Is Beautiful (La vita è bella)") == "Life Is Beautiful"
    assert key("Amélie!") == "amelie"
    assert list(keys("Heat (1995)")) == ["heat", "1995"]
    assert Catalogue([("f1", "Heat", 1995)]).find("heat", [1995]) == "f1"
    assert Catalogue([("f1", "Heat", 1995)]).find("heat", [1996]) is None
