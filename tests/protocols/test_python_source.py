"""What Python's text becomes, also where the interpreter fails at it because several threads ask at once."""

import pytest

from protocols.python_source import TRIES, evaluate_literal, parse_python

MISMATCH = "AST constructor recursion depth mismatch (before=36, after=53)"


@pytest.mark.parametrize("times", [TRIES - 1, TRIES])
def test_it_is_tried_again_where_the_interpreter_fails(monkeypatch, times):
    failures = [SystemError(MISMATCH)] * times

    def fails_at_first(*args, **options):
        if failures:
            raise failures.pop()
        return compile(*args, **options)

    monkeypatch.setattr("protocols.python_source.compile", fails_at_first, raising=False)
    if times < TRIES:
        assert evaluate_literal("[1]") == [1]
    else:
        with pytest.raises(SystemError, match="depth mismatch"):
            parse_python("x = 1")
    assert failures == []
