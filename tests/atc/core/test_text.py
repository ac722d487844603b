"""Text for people."""

from atc.core.text import clipped, count, escape_controls, escape_visibly


def test_texts_for_people_are_short_and_harmless():
    assert clipped("one two three", 7) == "one two t…"
    assert clipped("one\ntwo", None) == "one two"
    assert count(1, "call") == "1 call"
    assert count(2, "call") == "2 calls"
    assert escape_controls("a\x1b[2J") == "a\\x1b[2J"
    assert escape_visibly(0x200B) == "\\u200b"
