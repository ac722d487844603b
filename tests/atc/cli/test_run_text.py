"""A stored run as text for people."""

from atc.cli.run_text import clip_line


def test_a_line_is_clipped():
    assert clip_line("a\nb") == "a b"
    assert len(clip_line("x" * 1000)) < 1000
