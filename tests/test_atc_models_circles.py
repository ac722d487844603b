"""Replies that run in circles, and those that only repeat something."""

from __future__ import annotations

import pytest

from atc.models.local import runs_in_circles

PROGRAM = "\n".join(f"result_{n} = get_film(film_id='fm_{n:05}')\nprint(result_{n}['title'])" for n in range(60))


@pytest.mark.parametrize(
    "text",
    [
        "add_to_queue(uri='spotify:track:03YrJQ" + "zQw" * 80,
        "x = 1\n" + "print(x)\n" * 27,
        "\n" * 240,
        "and so " * 40,
        (line := "    if park['park_id'] == park['park_id']:\n        print(park['name'])\n") * 6,
        "a" + "Zürich, " * 31,
    ],
)
def test_a_piece_again_and_again_is(text):
    assert runs_in_circles(text)
    assert not runs_in_circles(text + "done")


@pytest.mark.parametrize(
    "text",
    ["", "x", "print('-' * 80)", "-" * 120, "[" + "0, " * 60 + "0]", PROGRAM, "print(x)\n" * 20, PROGRAM[:300] * 3],
)
def test_what_a_program_may_well_hold_is_not(text):
    assert not runs_in_circles(text)
