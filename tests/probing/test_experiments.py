"""Experiments with arguments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.labs.fake_tools import Fakes, need, refuse, run_probe


def test_each_wrong_argument_teaches_what_it_must_be(tmp_path: Path) -> None:
    fakes = Fakes()

    def departures(given: Any) -> Any:
        origin = need(given, "origin", "one of EWR, JFK, LGA")
        if origin not in ("EWR", "JFK", "LGA"):
            raise refuse(422, f"argument 'origin' must be one of EWR, JFK, LGA, got '{origin}'.")
        hour = given.get("hour", 0)
        if not str(hour).isdigit() or not 0 <= int(hour) <= 23:
            raise refuse(422, f"argument 'hour' must be an integer from 0 to 23, got '{hour}'.")
        return {"departures": [{"to": "BOS", "hour": int(hour)}]}

    fakes.add("list_departures", departures, "/departures", "origin", "hour")
    facts = run_probe(fakes, tmp_path).facts["list_departures"]
    origin, hour = facts.arguments["origin"], facts.arguments["hour"]
    assert (origin.required, hour.required) == (True, False)
    assert ("EWR", "JFK", "LGA") in [hint.values for hint in origin.hints]
    assert (0, 23) in [(hint.minimum, hint.maximum) for hint in hour.hints]


def test_guessed_fields_are_dropped_to_test_need(
    tmp_path: Path,
) -> None:
    fakes = Fakes()
    fakes.add("list_films", lambda _: [{"id": 1, "title": "Emma", "by": "Ann"}], "/films")
    fakes.add(
        "add_film",
        lambda given: {"id": 9, "title": need(given, "title")},
        "/films",
        method="POST",
        strict=False,
    )
    known = run_probe(fakes, tmp_path, allow_writes=True).facts["add_film"].arguments
    assert {name: one.required for name, one in known.items()} == {"title": True}
