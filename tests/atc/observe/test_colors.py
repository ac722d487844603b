"""Colours of programs on a terminal."""

from atc.observe.colors import highlight_lines


def test_colours_change_no_character():
    source = 'for x in ["a\x1b[2J"]:  # each\n\n    print(f"{x!r}", 6)\n    """two\n    lines"""\n'
    lines = source.split("\n")
    shown = highlight_lines(lines)
    assert [line.plain for line in shown] == [line.replace("\x1b", "\\x1b") for line in lines]
    spans = [
        (str(span.style), line.plain[span.start : span.end])
        for line in shown
        for span in line.spans
    ]
    assert {("cyan", "6"), ("magenta", "for"), ("green", '    lines"""')} <= set(spans)


def test_a_text_that_is_no_program_is_shown():
    odd = ["'''", "\\x ≠ (", ""]
    assert [line.plain for line in highlight_lines(odd)] == odd
