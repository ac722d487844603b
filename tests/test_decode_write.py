"""A program written statement by statement: what is asked, what is kept, and how it ends whatever comes back."""

from __future__ import annotations

import pytest

pytest.importorskip("llguidance", reason="grammars need the extra 'decode'")

from hypothesis import given
from hypothesis import strategies as st

from atc.decode.grammar import Choice, Grammar, Pattern, Sequence, Text
from atc.decode.program import FENCE, Step
from atc.decode.write import OPENING, PROGRAM_TOKENS, once, write_program
from protocols.ask import Completion, Message

ASKED = [Message("system", "s"), Message("user", "u")]
END = "print(x)\n"
CALL = Sequence((Text('x = find(name="'), Pattern("[a-z ]{0,200}"), Text('")\n')))


class Lines:
    """Any number of calls, then a print, then the end; or only what leads there."""

    def __init__(self, *, ending: bool = False) -> None:
        self.sources: list[str] = []
        self._ending = ending

    def next(self, source: str) -> Step:
        self.sources.append(source)
        printed = END in source
        calls = () if self._ending or printed else (CALL,)
        may = (*calls, Text(FENCE if printed else END))
        return Step(Grammar(start=Choice(may), rules={}), may_end=printed, must_end=printed and self._ending, depth=0)


ENDING = Lines(ending=True)


class Model:
    """Gives its replies in order, each of so many tokens, and keeps what it was asked."""

    def __init__(self, *replies: str, tokens: int = 10) -> None:
        self._replies, self._tokens = iter(replies), tokens
        self.asked: list[tuple[list[Message], dict]] = []

    def __call__(self, messages, **settings):
        self.asked.append((list(messages), settings))
        return Completion(text=next(self._replies), model="m", output_tokens=self._tokens)

    @property
    def turns(self) -> list[str]:
        return [messages[-1].content for messages, _ in self.asked]


def called(name: str) -> str:
    return f'x = find(name="{name}")\n'


def test_each_request_goes_on_from_the_program_so_far() -> None:
    model, lines = Model(called("a"), END, FENCE), Lines()
    written = write_program(ASKED, model, lines, ENDING, purpose="sample", temperature=0.4, seed=7)
    assert (written.source, written.requests, written.ended, written.held) == (called("a") + END, 3, True, True)
    assert model.turns == [OPENING, OPENING + called("a"), OPENING + called("a") + END]
    assert all(messages[:-1] == ASKED and messages[-1].role == "assistant" for messages, _ in model.asked)
    settings = [given for _, given in model.asked]
    assert [given["statement"] for given in settings] == [0, 1, 2]
    assert {(given["purpose"], given["temperature"], given["seed"]) for given in settings} == {("sample", 0.4, 7)}
    assert all(given["grammar"].startswith("%llguidance") for given in settings)


def test_a_piece_is_written_in_the_scope_of_the_program_before_it() -> None:
    model, lines = Model(END, FENCE), Lines()
    written = write_program(ASKED, model, lines, ENDING, before=called("a"))
    assert lines.sources == [called("a"), called("a") + END]
    assert (model.turns[0], written.source) == (OPENING, END)


@pytest.mark.parametrize("reply", ["x = fnd(name='a')\n", "Sure! Here it is:", called("A"), f"{END}{FENCE}"])
def test_an_endpoint_that_does_not_keep_to_the_grammar_is_noticed(reply: str) -> None:
    model = Model(called("a"), reply, reply)
    written = write_program(ASKED, model, Lines(), ENDING)
    assert (written.held, written.ended, written.source) == (False, False, called("a"))
    assert model.turns[1:] == [OPENING + called("a")] * 2
    assert "did not keep to its grammar" in written.why
    assert repr(reply[:60]) in written.why


def test_a_single_reply_outside_its_grammar_is_asked_for_again() -> None:
    model = Model("Sure!", called("a"), END, FENCE)
    written = write_program(ASKED, model, Lines(), ENDING)
    assert (written.held, written.ended, written.source) == (True, True, called("a") + END)
    assert [given["temperature"] > 0 for _, given in model.asked] == [False, True, True, True]


def test_a_statement_that_is_cut_off_is_asked_for_again_and_less_greedily() -> None:
    model = Model('x = find(name="so', called("a"), END, FENCE)
    written = write_program(ASKED, model, Lines(), ENDING, seed=3)
    assert (written.source, written.ended) == (called("a") + END, True)
    assert model.turns[:2] == [OPENING, OPENING]
    first, second = (given for _, given in model.asked[:2])
    assert (first["temperature"], first["seed"]) == (0.0, 3)
    assert second["temperature"] > 0
    assert second["seed"] != 3


def test_a_program_that_cannot_be_brought_to_an_end_is_given_up() -> None:
    model = Model(*["x = find("] * 2, *["pri"] * 50)
    written = write_program(ASKED, model, Lines(), ENDING)
    assert (written.source, written.ended, written.held) == ("", False, True)
    assert len(model.asked) < 10
    assert "end" in written.why


def test_a_model_that_repeats_itself_is_brought_to_an_end() -> None:
    model = Model(*[called("a")] * 3, *[called("b")] * 3, END)
    written = write_program(ASKED, model, Lines(), ENDING)
    assert (written.source, written.ended) == (called("a") + called("b") + END, True)


def test_a_program_that_grows_too_long_is_brought_to_an_end() -> None:
    model = Model(*map(called, "abcd"), END, tokens=PROGRAM_TOKENS // 4 + 1)
    written = write_program(ASKED, model, Lines(), ENDING)
    assert (written.source, written.ended) == ("".join(map(called, "abcd")) + END, True)


@pytest.mark.parametrize(
    ("source", "left"),
    [
        ("", ""),
        ("a\n", "a\n"),
        ("a\na\n", "a\na\n"),
        ("a\na\na\n", "a\n"),
        ("x\na\na\na\n", "x\na\n"),
        ("a\nb\na\nb\na\nb\n", "a\nb\n"),
        ("a\na\nb\na\na\n", "a\na\nb\na\na\n"),
        ("    a\na\na\n", "    a\na\na\n"),
    ],
)
def test_lines_that_come_three_times_in_a_row_stand_once(source: str, left: str) -> None:
    assert once(source) == left


@given(st.lists(st.sampled_from(["a\n", "b\n", "    a\n"]), max_size=14))
def test_what_is_left_is_a_beginning_that_does_not_repeat_itself(lines: list[str]) -> None:
    source = "".join(lines)
    left = once(source)
    assert source.startswith(left)
    assert (left == source) == (once(source) == source)
    assert bool(left) == bool(source)
