"""Indentation that begins no block is removed."""

import pytest

from atc.core.program import Program
from atc.pipeline.autofix.indentation import remove_unexpected_indent


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("a = 1\n b = 2\nprint(a)", "a = 1\nb = 2\nprint(a)\n"),
        (" a = 1\nprint(a)", "a = 1\nprint(a)\n"),
        ("a = 1\n    if a:\n        a = 2\n    b = a\nprint(b)",
         "a = 1\nif a:\n    a = 2\nb = a\nprint(b)\n"),
        ("for a in [1]:\n    b = a\n      c = b\n    print(c)",
         "for a in [1]:\n    b = a\n    c = b\n    print(c)\n"),
        ("a = (1\n b = 2", None),
        ("a = 1\n b = 2\n  c = 3", None),
        ("if a:\nb = 2", None),
        ("a = 1\nprint(a)", None),
    ],
)  # fmt: skip
def test_moves_unexpectedly_indented_lines(written: str, meant: str | None) -> None:
    fixed = remove_unexpected_indent(Program(written))
    assert (fixed and fixed.source) == meant
