"""Programs that print their answer alone."""

from atc.core.answer_print import count_kept_lines, print_name
from atc.core.types import Program


def test_an_ordinary_program_prints_by_print():
    assert print_name(Program("print(1)")) == "print"
    assert count_kept_lines(Program("x = 1\ny = 2"), Program("x = 1")) == 1
    assert count_kept_lines(Program("y = 2"), Program("x = 1")) == 0
