"""Pieces of a program as text: what is read from a reply, what is new, and a program without its looks."""

import contextlib
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atc.strategies.programs.pieces import grown, may_answer, new_lines, next_piece
from atc.strategies.programs.prints import finished, quiet
from atc.types import Program
from protocols.abridge import abridged, printed

STATEMENTS = [
    "a = call(1)",
    "b = [call(n) for n in range(2)]",
    "print(a, b)",
    "print(call(2), len(b))",
    "print(f'{call(3)} {a}')",
    "print(*b, sep=str(call(4)))",
    "for x in b:\n    print(x)",
    "for x in b:\n    print('no', x)\n    a = x",
    "if a: print(a); c = 5",
    "if b:\n    print(b)\nelse:\n    print(a)",
    "[print(call(x)) for x in b]",
    "it = iter(b)\nprint(list(it))\nrest = list(it)",
    "try:\n    print(a)\nfinally:\n    print(b)",
    "def show(x):\n    print(x)\n    return call(x)",
    "show = lambda x: print('l', x)",
    "def wrap(x):\n    return show(x)",
    "show(7)",
    "print(wrap(8))",
    "show = call",
    "def show(x, y=[]):\n    y.append(x)\n    print(y)",
    "print(seen := call(6))",
    "print()",
    "with contextlib.suppress(KeyError):\n    print({}['k'])",
    "# a remark\nc = 1  # another",
]


def run(source):
    """What a program calls, prints and leaves in its plain variables."""
    calls, out = [], io.StringIO()

    def call(n):
        calls.append(n)
        return n

    space = {"call": call, "show": call, "wrap": call, "contextlib": contextlib, "a": 0, "b": []}
    with contextlib.redirect_stdout(out):
        exec(compile(source, "<program>", "exec"), space)
    kept = {name: value for name, value in space.items() if isinstance(value, int | list | str)}
    return calls, out.getvalue(), kept


@given(st.lists(st.sampled_from(STATEMENTS), max_size=6))
def test_a_quiet_program_does_the_same_and_says_nothing(statements):
    source = "\n".join(statements) + "\n"
    calls, _, left = run(source)
    still = quiet(Program(source))
    assert run(still.source) == (calls, "", left)
    assert quiet(still) == still


@given(st.lists(st.sampled_from(STATEMENTS), max_size=6), st.sampled_from(["show(9)", "print(wrap(9))"]))
def test_functions_of_a_quiet_program_still_print_for_who_calls_them(statements, last):
    """But for what a default remembers."""
    source = "".join(f"{statement}\n" for statement in statements if "y=[]" not in statement)
    before, after = run(source)[1], run(f"{source}{last}\n")[1]
    still = quiet(Program(source))
    assert run(f"{still.source}{last}\n")[1] == after.removeprefix(before)
    assert quiet(quiet(Program(f"{still.source}{last}\n"))) == quiet(Program(f"{still.source}{last}\n"))


SHOW = "def show(x):  # so\n    print('ANSWER:', x)\n"


def test_a_function_that_nobody_called_stays_as_it_is():
    assert quiet(Program(f"a = 1\n{SHOW}print(a)\n")).source == f"a = 1\n{SHOW}"


def test_a_function_that_was_called_is_defined_anew_once():
    silent = "def show(x):\n    pass\nshow(1)\n"
    once = quiet(Program(f"{SHOW}show(1)\n"))
    assert once.source == f"{silent}\n{SHOW}"
    again = quiet(grown(once, Program("show(2)\n")))
    assert again.source == f"{silent}\n\nshow(2)\n\n{SHOW}"
    assert run(again.source)[1] == ""


def test_what_a_definition_calls_is_not_called_twice():
    source = "def show(x, y=call(4)):\n    print(x, y)\nshow(1)\n"
    assert run(quiet(Program(source)).source)[:2] == ([4], "")


def test_a_piece_that_restates_a_function_that_prints_restates_the_program():
    kept = quiet(Program(f"{SHOW}show(1)\nb = write(1)\n"))
    found = new_lines(kept, Program(f"{SHOW}show(1)\nb = write(1)\nc = 2\n"), {"write"})
    assert found == Program("c = 2\n")


@pytest.mark.parametrize(
    ("piece", "may"), [("print(1)", False), ("print('ANSWER:', 1)", True), ("show(1)", True), ("[*map(show, a)]", True)]
)
def test_a_piece_may_answer_by_a_function(piece, may):
    assert may_answer(Program(SHOW), Program(piece)) == may


def test_what_stays_keeps_its_text():
    source = "a = call( 1 )  # spaced\n\nprint(a)\n\n\n# why\nb = 'x'\n"
    assert quiet(Program(source)).source == "a = call( 1 )  # spaced\n\n\n\n# why\nb = 'x'\n"
    assert quiet(Program("no python (\n")).source == "no python (\n"


@pytest.mark.parametrize(
    ("source", "answer"),
    [
        ("print('ANSWER:', a)", "7\n"),
        ("print(f'ANSWER: {a}')", "7\n"),
        ("print('ANSWER: ' + str(a))", "7\n"),
        ("print('Final answer: %s' % a)", "7\n"),
        ("print('Answer: {} km'.format(a))", "7 km\n"),
        ("print('ANSWER: 7')", "7\n"),
        ("print('looking')\nfor x in (a, a):\n    print('ANSWER:', x)", "7\n7\n"),
        ("print('ANSWER:')\nprint(a)", "7\n"),
        ("print('ANSWER:', a, a, sep='|')", "7|7\n"),
        ("if a:\n    print('ANSWER:', a)\nelse:\n    print('none')", "7\n"),
        ("if not a:\n    print('ANSWER:', a)\nelse:\n    print('none')", ""),
        ("def tell(x):\n    print('ANSWER:', x)\ntell(a)", "7\n"),
    ],
)
def test_a_finished_program_prints_its_answer_alone(source, answer):
    assert run(finished(Program(f"a = 7\n{source}\n")).source)[1] == answer


@pytest.mark.parametrize("source", ["print(a)", "print('The ANSWER: is', a)", "print(a, 'ANSWER:')", "answer = a", "("])
def test_a_program_that_only_looks_is_not_finished(source):
    assert finished(Program(source)) is None


KEPT = "a = call(1)\nb = write(a)\n"


@pytest.mark.parametrize(
    ("piece", "new"),
    [
        ("c = 1\n", "c = 1\n"),
        (f"{KEPT}c = 1\n", "c = 1\n"),
        ("a = call(1)\nprint(a)\nb = write(a)\nprint(b)\nc = 1  # new\n", "print(b)\nc = 1  # new\n"),
        ("a = call(1)\nb = write(a); c = 1\n", "c = 1\n"),
        (KEPT, None),
        ("a = call(1)\n", "a = call(1)\n"),  # may be meant: it reads, and may read something else now
        ("a = call(1)\nd = 2\n", "a = call(1)\nd = 2\n"),
        ("b = write(a)\n", "b = write(a)\n"),  # a second write, on purpose
        ("no python (\n", "no python (\n"),
    ],
)
def test_what_a_piece_restates_is_not_done_again(piece, new):
    found = new_lines(Program(KEPT), Program(piece), {"write"})
    assert (found and found.source) == new


def test_a_program_grows_by_what_is_new():
    assert grown(Program(""), Program("a = 1\n")).source == "a = 1\n"
    assert grown(Program("a = 1\n"), Program("b = 2\n")).source == "a = 1\n\nb = 2\n"


def test_only_the_first_block_of_a_reply_is_a_piece():
    assert next_piece("So:\n```python\na = 1\n```\nIt printed:\n```\n5\n```") == "So:\n```python\na = 1\n```"
    assert next_piece("```python\na = 1```\n```python\nb = 2\n```") == "```python\na = 1```"
    assert next_piece("a = 1\nprint(a)") == "a = 1\nprint(a)"


@pytest.mark.parametrize("reply", ["ANSWER: Ada's", "It is known now.\n\n**Answer:** Ada's"])
def test_an_answer_in_words_becomes_the_piece_that_prints_it(reply):
    assert "print('ANSWER:', \"Ada's\")" in next_piece(reply)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=400),
    lambda inner: st.lists(inner, max_size=40) | st.dictionaries(st.text(max_size=20), inner, max_size=20),
    max_leaves=60,
)


@given(VALUES, st.integers(200, 2_000))
def test_a_shortened_value_is_short_and_says_so(value, most):
    text = abridged(value, most=most)
    assert text == repr(value) or len(text) <= most + 800
    assert len(repr(value)) <= most or "shortened" in text or "more" in text


def test_of_printed_lines_the_ends_are_shown():
    text = printed("\n".join(f"line {n}" for n in range(1_000)), most=300)
    assert text.startswith("line 0\n")
    assert text.endswith("\nline 999")
    assert "lines more" in text
    assert len(text) < 400


def test_a_printed_value_is_shown_as_one():
    text = printed(str({"rows": [{"id": n, "name": "x" * 90} for n in range(500)], "pages": 9}), most=500)
    assert "'pages': 9" in text
    assert "… 497 more" in text
    assert "the whole is {rows: [{id: integer, name: string}] × 500, pages: integer}" in text
