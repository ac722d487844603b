"""Failures of programs whose process ended without a reason."""

import pytest

from sandbox.exits import Exit, explain_exit
from sandbox.limits import Limits


@pytest.mark.parametrize(
    ("exit_", "type_", "message"),
    [
        (Exit(3, None, 0.0), "ProcessExit", "the program ended its own process (exit code 3)"),
        (Exit(None, 9, 0.0), "ProcessExit", "the program ended its own process (signal 9)"),
        (Exit(None, 11, 0.0), "Crash", "the program crashed the interpreter (SIGSEGV)"),
        (
            Exit(None, 24, 0.0),
            "cpu_seconds",
            "cpu_seconds: the program used more than 30 s of processor time",
        ),
        (
            Exit(None, 9, 31.0),
            "cpu_seconds",
            "cpu_seconds: the program used more than 30 s of processor time",
        ),
    ],
)
def test_how_a_silent_death_is_told(exit_, type_, message):
    failure = explain_exit(exit_, Limits())
    assert (failure.type, failure.message) == (type_, message)
