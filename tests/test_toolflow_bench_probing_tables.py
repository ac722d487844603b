"""Rows of services: calls are those of the log, counts are added, shares are taken anew, rounds are lined up."""

from __future__ import annotations

import pytest

from toolflow_bench.probing.counts import Rate, Share
from toolflow_bench.probing.score import Score
from toolflow_bench.probing.service import TruthLeaked, asked_of
from toolflow_bench.probing.tables import service_lines, service_total
from toolflow_bench.services.log import RequestRecord


def row(service, *, calls, seconds=1.0, rounds=((5, 1),), setting="names"):
    score = Score(documented=Share(1, 2), seen=Rate(8, 10, 20), keywords={"enum": Rate(1, 1, 2)})
    links = Rate(1, 2, 4).as_json()
    return {
        "service": service,
        "setting": setting,
        "tools": 2,
        "score": score.as_json(),
        "links": {"declared": links, "real": Share(2, 2).as_json()},
        "effects": {"read_only": Share(2, 2).as_json(), "of_writes": Share().as_json()},
        "calls": {"total": calls, "tools": 2, "mean": calls / 2, "max": calls - 1, "nowhere": []},
        "rounds": [
            {
                "round": number,
                "calls": made,
                "documented": Share(right, 2).as_json(),
                "seen": Rate(right, right, 4).as_json(),
                "declared": Rate(right, right, 4).as_json(),
                "links": links,
            }
            for number, (made, right) in enumerate(rounds)
        ],
        "seconds": seconds,
    }


ROWS = [row("a", calls=10, rounds=((5, 0), (10, 1))), row("b", calls=4, rounds=((4, 2),))]


def test_shares_are_taken_of_the_sums():
    total = service_total(ROWS)["names"]
    assert total["tools"] == 4
    assert total["score"]["seen"] == Rate(16, 20, 40).as_json()
    assert total["score"]["keywords"]["enum"]["recall"] == 0.5
    assert total["links"]["real"] == {"right": 4, "of": 4, "share": 1.0}
    assert (total["calls"]["total"], total["calls"]["mean"], total["calls"]["max"]) == (14, 3.5, 9)
    assert total["effects"]["of_writes"]["share"] is None


def test_a_service_that_was_done_early_stays_as_it_was():
    rounds = service_total(ROWS)["names"]["rounds"]
    assert [(one["round"], one["calls"], one["documented"]["right"]) for one in rounds] == [(0, 9, 2), (1, 14, 3)]


def test_settings_are_told_apart():
    rows = [row("a", calls=4), row("a", calls=6, setting="types")]
    total = service_total(rows)
    assert {setting: one["calls"]["total"] for setting, one in total.items()} == {"names": 4, "types": 6}
    lines = service_lines(rows, total)
    assert [line for line in lines if line.startswith("setting")] == ["setting: names", "setting: types"]
    assert any(line.split()[:4] == ["all", "2", "50.0%", "80.0%"] for line in lines)
    assert any("after round 0:     5 calls, documented 50.0%" in line for line in lines)


def request(path, status, operation=""):
    return RequestRecord("GET", path, "", status, operation)


def test_calls_are_counted_by_the_log_of_the_service():
    asked = asked_of(
        [request("/a", 200, "a"), request("/a", 422, "a"), request("/x", 404), request("/openapi.json", 404)],
        ["a", "b"],
    )
    assert asked.as_json() == {
        "total": 4,
        "tools": 2,
        "mean": 2.0,
        "max": 2,
        "nowhere": ["GET /x → 404", "GET /openapi.json → 404"],
    }


def test_a_document_that_was_answered_spoils_the_measurement():
    with pytest.raises(TruthLeaked, match=r"/openapi\.json with 200"):
        asked_of([request("/openapi.json", 200)], [])
