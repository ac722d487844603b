"""What turn-based strategies share: a conversation within its room, the calls that stand, how a call is asked for."""

from dataclasses import replace

from atc.run.conversation import Turn, Turns
from atc.run.single_calls import offer_tools
from protocols.model import Message
from protocols.toolbox import Toolbox
from tests.labs import tools as tool_lab

OPENING = [Message("system", "rules"), Message("user", "the task")]


def tool(name, source=""):
    return replace(tool_lab.tool(name), source=source)


def talk(*told, room=1_600):
    turns = Turns(OPENING, room)
    for number, text in enumerate(told):
        turns.taken.append(Turn(reply_text=f"step {number}", feedback=text, tool=f"t{number % 2}"))
    return turns


def test_what_was_told_first_is_shortened_first():
    first, second, last = (
        message.content for message in talk(*["x" * 2_000] * 3, room=1_250).messages()[3::2]
    )
    assert len(first) < 200
    assert "characters more" in first
    assert (second, last) == ("x" * 2_000, "x" * 2_000)


def test_the_earliest_turns_are_left_out_at_last():
    messages = talk(*["x" * 400] * 100, room=600).messages()
    assert 4 < len(messages) < 40
    assert messages[1].content.startswith("the task\n\n(The first ")
    assert messages[-1].content == "x" * 400
    assert [message.role for message in messages[1:]] == ["user", "assistant"] * (
        (len(messages) - 1) // 2
    ) + ["user"]


def test_the_ways_to_end_change_no_alias():
    everything = Toolbox([tool("search", "books"), tool("search", "films"), tool("finish")])
    some = everything.only(["books_search", "finish"])
    offer = offer_tools(some, back=True, give_up=True)
    assert list(offer.tools) == ["books_search", "finish", "finish_2", "go_back", "give_up"]
    assert offer.ends == {"finish": "finish_2", "back": "go_back", "give_up": "give_up"}
    assert [line[:4] for line in offer.ending_rules.splitlines()] == ["- Wh"] * 3
    plain = offer_tools(Toolbox([tool("read")]))
    assert (list(plain.tools), plain.ends) == (["read", "finish"], {"finish": "finish"})
