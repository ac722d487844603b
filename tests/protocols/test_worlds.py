"""A world is where the program is: what a fresh state repeats, and what a session without a factory says."""

import pytest

from protocols.errors import SourceUnavailable, ToolError
from protocols.worlds import World


@pytest.fixture
def made():
    """The states that were made, each the list of its calls."""
    return []


@pytest.fixture
def world(made):
    def fresh():
        made.append([])
        state = made[-1]

        def go(arguments):
            if arguments.get("refuse"):
                raise ToolError(None, "no")
            state.append(arguments["to"])
            return len(state)

        return {"go": go}

    return World("'game'", fresh)


def go(world, **arguments):
    return world.send("go", arguments, None, steps=True)


def test_a_longer_program_stays_in_its_state(world, made):
    world.begin()
    assert go(world, to="a") == 1
    world.begin()
    world.answered("go", {"to": "a"}, 1)
    assert (go(world, to="b"), made) == (2, [["a", "b"]])


def test_another_way_begins_in_a_fresh_state(world, made):
    world.begin()
    for to in "abc":
        go(world, to=to)
    world.begin()
    world.answered("go", {"to": "a"}, 1)
    assert (go(world, to="x"), made) == (2, [["a", "b", "c"], ["a", "x"]])


def test_a_refused_call_is_no_step(world, made):
    world.begin()
    with pytest.raises(ToolError):
        go(world, refuse=True)
    world.begin()
    assert (go(world, to="a"), len(made)) == (1, 1)


def test_settling_makes_what_the_program_made(world, made):
    world.begin()
    world.settle()
    assert made == []
    go(world, to="a")
    world.begin()
    world.settle()
    assert made == [["a"], []]


def test_states_that_answer_otherwise_are_refused(world):
    world.begin()
    world.answered("go", {"to": "a"}, 5)
    with pytest.raises(SourceUnavailable, match="another response in a fresh world"):
        go(world, to="b")


def test_a_session_goes_on_and_says_so():
    session, seen = World("'browser'"), []

    def click(arguments):
        seen.append(arguments["to"])

    session.begin()
    session.send("click", {"to": "a"}, click, steps=True)
    assert session.note is None
    session.begin()
    session.send("click", {"to": "b"}, click, steps=True)
    assert "went on from where it was" in session.note
    assert seen == ["a", "b"]
