"""A program that grows by pieces."""

from atc.core.program import Program
from atc.run.growing_program import (
    build_answer_program,
    first_block,
    to_finished_program,
    to_unfinished_program,
)


def test_a_reply_ends_with_its_first_block():
    reply = "Now:\n```python\nx = 1\n```\nOutput: 1"
    assert first_block(reply) == "Now:\n```python\nx = 1\n```"


def test_only_an_answer_finishes_a_program():
    assert to_finished_program(Program("print(1)")) is None
    program = Program("print('looking')\nprint('ANSWER:', 7)")
    finished = to_finished_program(program)
    printed = []
    exec(finished.source, {"print": lambda *words: printed.append(words)})
    assert printed == [(7,)]
    assert to_unfinished_program(Program("print(1)")).source == "print(1)"


def test_an_answer_program_prints_only_the_answer(capsys):
    exec(build_answer_program(Program("print(1)"), "two").source, {})
    assert capsys.readouterr().out == "two\n"
