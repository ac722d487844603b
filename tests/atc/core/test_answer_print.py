"""Programs that print their answer alone."""

from atc.core.answer_print import HEAD, PRINTS_AGAIN, count_kept_lines, print_name
from atc.core.program import Program


def test_an_ordinary_program_prints_by_print():
    assert print_name(Program("print(1)")) == "print"
    assert count_kept_lines(Program("x = 1\ny = 2"), Program("x = 1")) == 1
    assert count_kept_lines(Program("y = 2"), Program("x = 1")) == 0


def test_silent_beginnings_count_as_kept():
    second = Program(f"{HEAD}x = 1\n\n{PRINTS_AGAIN}y = 2\n")
    third = Program(f"{HEAD}x = 1\n\ny = 2\n\n{PRINTS_AGAIN}z = 3\n")
    assert count_kept_lines(second, Program("x = 1\n")) == 3
    assert count_kept_lines(third, second) == 5
    assert count_kept_lines(third, Program("x = 2\n")) == 0
