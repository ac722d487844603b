"""Checks that an argument in the path of a URL cannot lead to another operation."""

from protocols.http.path_arguments import PathRule, has_dot_segment


def test_a_path_argument_stays_in_its_place():
    assert has_dot_segment("a/../b")
    assert has_dot_segment("a/..;x/b")
    assert not has_dot_segment("a/b")
    assert PathRule("id", {"type": "string"}, {}).problem("7") is None
    assert PathRule("id", {"type": "string"}, {}).problem("..") is not None
    assert PathRule("id", {"type": "string"}, {}).problem("a/b") is not None
