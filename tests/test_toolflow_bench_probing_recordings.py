"""The replay of recorded responses: how a schema is held against a reference, and AutoTools' recordings in full."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from probing.infer import infer
from toolflow_bench.probing.recordings import (
    InvalidRecordings,
    Recording,
    differences,
    figures,
    lines,
    load_recordings,
    replay,
    replayed,
)

DATA = Path(__file__).parents[2] / "shared" / "data" / "autotools"


def departures(schema: dict[str, Any], reference: Any) -> set[tuple[str, str]]:
    return {(one.kind, one.path) for one in differences(schema, reference)}


def test_a_schema_of_the_first_elements_alone_matches() -> None:
    response = {"rows": [{"id": 1, "name": "x", "price": 1.5, "ok": True, "none": None}], "empty": []}
    reference = {
        "rows": [{"id": "int", "name": "str", "price": "float", "ok": "bool", "none": "NoneType"}],
        "empty": [],
    }
    row = replayed(Recording(tool="t", source="recorded", response=response, reference=reference))
    assert (row.verdict, row.valid, row.fields) == ("matched", True, 8)


def test_what_is_told_beyond_a_reference() -> None:
    response = {
        "rows": [{"a": 1, "b": None}, {"a": 2.5, "b": "x", "c": 1}, {"a": None, "d": []}],
        "m": {"17": 1, "4": 2},
    }
    reference = {"rows": [{"a": "int", "b": "NoneType"}], "m": {"17": "int", "4": "int"}}
    assert departures(infer([response]), reference) == {
        ("null told", "rows[].a"),
        ("number, not only integer", "rows[].a"),
        ("type told beside null", "rows[].b"),
        ("field told", "rows[].c"),
        ("field told", "rows[].d"),
        ("map told", "m"),
    }
    assert departures(infer([{"a": [1]}]), {"a": []}) == {("elements told", "a")}
    shapes = [{"type": "circle", "radius": 1}, {"type": "square", "side": 2}]
    assert ("kinds told apart", "[]") in departures(infer([shapes]), [{"type": "str", "radius": "int"}])


def test_what_is_lost_is_worse() -> None:
    schema = infer([{"a": 1, "b": [], "c": {"x": 1}}])
    reference = {"a": "str", "b": ["int"], "c": {"x": "int", "y": "int"}, "d": "str"}
    assert departures(schema, reference) == {
        ("type lost", "a"),
        ("elements lost", "b"),
        ("field lost", "c.y"),
        ("field lost", "d"),
    }
    row = replayed(Recording(tool="t", source="recorded", response={"a": 1}, reference=reference))
    assert row.verdict == "worse"
    assert "t: field lost at 'd'" in lines([row])


def test_a_folder_without_recordings_says_so(tmp_path: Path) -> None:
    with pytest.raises(InvalidRecordings, match=r"tools\.json"):
        load_recordings(tmp_path)
    (tmp_path / "tools.json").write_text('{"food": []}')
    with pytest.raises(InvalidRecordings):
        replay(tmp_path)


@pytest.mark.skipif(not DATA.is_dir(), reason="AutoTools' recordings are not here (../shared)")
def test_every_recording_conforms_and_no_reference_is_better() -> None:
    rows = replay(DATA)
    found = figures(rows)
    assert found["all"]["valid"] == {"right": 177, "of": 177, "share": 1.0}
    assert found["recorded"]["valid"]["of"] == 83
    assert [row.tool for row in rows if row.verdict == "worse"] == []
    json.dumps([row.as_json() for row in rows])
