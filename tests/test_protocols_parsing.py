"""What Python's text becomes, also where the interpreter fails at it because several threads ask at once."""

import ast

import pytest

from protocols.parsing import TRIES, literal, parse, parse_expression

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


def test_a_tree_is_the_one_that_python_has():
    source = "x = [1, 2]\nprint(x)"
    assert ast.dump(parse(source)) == ast.dump(ast.parse(source))
    assert ast.dump(parse_expression("  f(a=1)")) == ast.dump(ast.parse("f(a=1)", mode="eval"))


@pytest.mark.parametrize("text", ["1", " -2.5", "'a'", "[1, (2, {'b': {3}})]", "{'a': None}", "b'x'"])
def test_a_literal_is_the_one_that_python_has(text):
    assert literal(text) == ast.literal_eval(text)


@pytest.mark.parametrize(("text", "error"), [("f(1)", ValueError), ("1 +", SyntaxError), ("x = 1", SyntaxError)])
def test_what_is_no_literal_is_refused(text, error):
    with pytest.raises(error):
        literal(text)


def test_statements_may_await_where_the_flag_says_so():
    with pytest.raises(SyntaxError):
        compile(parse("await f()"), "", "exec")
    compile(parse("await f()", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), "", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


def test_the_style_of_a_text_is_nobodys_affair(recwarn):
    parse("x = '\\d'\nif x is 'a': pass\n")
    assert not recwarn.list


def test_it_is_tried_again_where_the_interpreter_fails(failing):
    failures = failing(TRIES - 1)
    assert literal("[1]") == [1]
    assert failures == []


def test_an_interpreter_that_goes_on_failing_is_believed(failing):
    failing(TRIES)
    with pytest.raises(SystemError, match="depth mismatch"):
        parse("x = 1")
