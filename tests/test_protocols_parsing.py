"""What Python's text becomes, also where the interpreter fails at it because several threads ask at once."""

import pytest

from protocols.parsing import TRIES, literal, parse

MISMATCH = "AST constructor recursion depth mismatch (before=36, after=53)"


@pytest.fixture
def failing(monkeypatch):
    """How many times the interpreter is going to fail."""

    def fail(times):
        failures = [SystemError(MISMATCH)] * times

        def fails_at_first(*args, **options):
            if failures:
                raise failures.pop()
            return compile(*args, **options)

        monkeypatch.setattr("protocols.parsing.compile", fails_at_first, raising=False)
        return failures

    return fail


def test_it_is_tried_again_where_the_interpreter_fails(failing):
    failures = failing(TRIES - 1)
    assert literal("[1]") == [1]
    assert failures == []


def test_an_interpreter_that_goes_on_failing_is_believed(failing):
    failing(TRIES)
    with pytest.raises(SystemError, match="depth mismatch"):
        parse("x = 1")
