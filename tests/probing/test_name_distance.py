"""Distance between the names of arguments and of places with values."""

from probing.name_distance import expand_name, is_id, is_identifying, scalars, url_text, words_in


def test_names_are_compared_by_their_words():
    assert expand_name("homeTz") == "home_time_zone"
    assert sorted(words_in(("list the flights",))) == ["flight", "list", "the"]
    assert url_text(5) == url_text("5")
    assert scalars([1, {"a": 2}, "x"]) == [1, "x"]
    assert is_identifying("tt0113277")
    assert not is_identifying(3)
    assert is_id("b7f3c2d9")
    assert not is_id("hello")
