"""Encodes the values of arguments as text for URLs and forms."""

from protocols.http.values import iter_deep_object_pairs, join_items, text_pairs, url_encode


def test_values_become_pairs_of_texts():
    assert join_items([1, "a"], ",") == "1,a"
    assert url_encode({"a": "x y", "b": [1, 2]}) == "a=x%20y&b=1&b=2"
    assert list(iter_deep_object_pairs("f", {"a": 1, "b": {"c": 2}})) == [
        ("f[a]", 1),
        ("f[b][c]", 2),
    ]
    assert text_pairs({"a": True, "b": None, "c": [1, "x"]}) == [
        ("a", "true"),
        ("c", "1"),
        ("c", "x"),
    ]
