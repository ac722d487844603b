"""What turn-based strategies share: a conversation within its room, the calls that stand, how a call is asked for."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atc.config import Config
from atc.decode.call import Written
from atc.decode.errors import Undecodable
from atc.decode.read import ReadCall
from atc.strategies.turns.acting import Acting, Action, offered, shown
from atc.strategies.turns.asking import held
from atc.strategies.turns.conversation import Turn, Turns, briefer, room_for_turns
from protocols.ask import Message
from protocols.protocol import ToolProtocol
from protocols.render import token_estimate
from protocols.toolbox import Tool, Toolbox

OPENING = [Message("system", "rules"), Message("user", "the task")]


def tool(name, source=""):
    return Tool(ToolProtocol(name=name, description="", input_schema={"type": "object"}), call=dict, source=source)


def talk(*told, room=1_600):
    turns = Turns(OPENING, room)
    for number, text in enumerate(told):
        turns.add(Turn(said=f"step {number}", told=text, tool=f"t{number % 2}"))
    return turns


def test_turns_follow_the_opening():
    assert talk("one", "two").messages() == [
        *OPENING,
        Message("assistant", "step 0"),
        Message("user", "one"),
        Message("assistant", "step 1"),
        Message("user", "two"),
    ]
    assert talk("one").messages("then what")[-1] == Message("user", "one\n\nthen what")
    assert talk().messages("then what") == [OPENING[0], Message("user", "the task\n\nthen what")]


def test_what_was_told_first_is_shortened_first():
    first, second, last = (message.content for message in talk(*["x" * 2_000] * 3, room=1_250).messages()[3::2])
    assert len(first) < 200
    assert "characters more" in first
    assert (second, last) == ("x" * 2_000, "x" * 2_000)


def test_the_earliest_turns_are_left_out_at_last():
    messages = talk(*["x" * 400] * 100, room=600).messages()
    assert 4 < len(messages) < 40
    assert messages[1].content.startswith("the task\n\n(The first ")
    assert messages[-1].content == "x" * 400
    assert [message.role for message in messages[1:]] == ["user", "assistant"] * ((len(messages) - 1) // 2) + ["user"]


@given(st.lists(st.text(max_size=3_000), max_size=8), st.integers(200, 2_000), st.text(max_size=300))
def test_all_but_the_last_turn_fit_the_room(told, room, then):
    shown = talk(*told, room=room).messages(then)[2:]
    earlier = shown[:-1] if shown else []
    note = 40
    assert sum(token_estimate(m.content) for m in earlier) <= room + note or len(shown) <= 2


@given(st.lists(st.text(max_size=600), max_size=6), st.integers(0, 300), st.integers(0, 600))
def test_texts_are_shortened_from_the_front_and_no_more_than_needed(told, beside, room):
    shown = briefer(told, beside=beside, room=room)
    assert shown[-1:] == told[-1:]
    changed = [a != b for a, b in zip(shown, told, strict=True)]
    if not any(changed):
        return
    last = max(i for i, c in enumerate(changed) if c)
    assert beside + sum(map(token_estimate, [*shown[:last], *told[last:]])) > room


def test_turns_and_calls_are_taken_back_and_taken_out():
    turns = talk("a", "b", "c", "d")
    turns.back_to(3)
    turns.without({"t1"})
    assert [one.told for one in turns.taken] == ["a", "c"]
    assert turns.last.told == "c"
    assert Turns(OPENING, 1).last.said == ""
    acting = Acting(None, None, standing=tuple(Action(name, {}) for name in "abac"))
    acting.without({"a"})
    assert [action.tool for action in acting.standing] == ["b", "c"]
    acting.back_to(1)
    acting.begin_anew()
    assert (acting.standing, acting.round) == ((), 1)


def test_a_tool_that_there_is_not_is_said_so():
    parts = SimpleNamespace(toolbox=Toolbox())
    seen = Acting(parts, None).act("nothing", {})
    assert (seen.failed, seen.text) == (True, "Error: there is no function 'nothing'.")


def test_the_ways_to_end_change_no_alias():
    everything = Toolbox([tool("search", "books"), tool("search", "films"), tool("finish")])
    some = everything.only(["books_search", "finish"])
    offer = offered(some, back=True, give_up=True)
    assert list(offer.tools) == ["books_search", "finish", "finish_2", "go_back", "give_up"]
    assert (offer.finish, offer.back, offer.give_up) == ("finish_2", "go_back", "give_up")
    assert [line[:4] for line in offer.told.splitlines()] == ["- Wh"] * 3
    plain = offered(Toolbox([tool("read")]))
    assert (list(plain.tools), plain.back, plain.give_up) == (["read", "finish"], "", "")
    assert offered(Toolbox([tool("read")]), give_up=True).give_up == "give_up"


@pytest.mark.parametrize(("budget", "room"), [(4_000, 2_000), (1_000, 1_600)])
def test_the_room_of_turns(budget, room):
    assert room_for_turns(budget) == room


@pytest.mark.parametrize("value", [{"rows": ["x" * 60] * 99}, ["x" * 60] * 99, "x" * 9_000, {"a": 1}, None])
def test_a_result_is_shown_within_its_room(value):
    text = shown(value, most=1_024)
    assert len(text) < 1_024 + 40
    assert text == repr(value) or "characters more" in text or "shortened; the whole is" in text


class Model:
    """A meter that gives one reply, however it is asked."""

    def __init__(self):
        self.notes = []

    def asker(self, purpose):
        return purpose

    def note(self, sentence):
        self.notes.append(sentence)


def test_a_schema_that_is_too_much_for_a_grammar_is_noted_and_calls_are_written_freely():
    asked = []

    def write(ask, messages, tools, *, decoding, sampling, within):
        asked.append((ask, decoding, sampling.temperature, sampling.seed))
        if decoding == "calls":
            raise Undecodable("too deep.", hint="")
        return Written(text="", call=ReadCall(), how="free")

    model = Model()
    held(write, [], Toolbox(), config=Config(), meter=model, number=2)
    assert asked == [("act", "calls", 0.7, 20), ("act", "off", 0.7, 20)]
    assert "too deep." in model.notes[0]
    held(write, [], Toolbox(), config=Config(decoding="off"), meter=model, purpose="plan")
    assert asked[2:] == [("plan", "off", 0.0, 0)]


def test_that_calls_could_not_be_held_is_noted_where_it_was_asked_for():
    def write(*_, decoding, sampling, within):
        return Written(text="", call=ReadCall(), how="resampled", note="The endpoint enforces nothing.")

    quiet, told = Model(), Model()
    held(write, [], Toolbox(), config=Config(), meter=quiet)
    held(write, [], Toolbox(), config=Config(decoding="calls"), meter=told)
    assert (quiet.notes, len(told.notes)) == ([], 1)
    assert "enforces nothing" in told.notes[0]
