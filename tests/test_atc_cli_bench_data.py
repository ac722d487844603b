"""`atc bench data toolqp`, driven as a person drives it, with a scripted teacher."""

import json
import os

import pytest
from click.testing import CliRunner

pytest.importorskip("bm25s")

from atc.cli.main import cli

TOOLS = [
    {"id": "mailer", "name": "mailer", "description": "Sends a letter to an address"},
    {"id": "weather", "name": "weather", "description": "Forecast of rain and sun in a city"},
]
QUERIES = [
    {"id": "1", "query": "Write to Ann", "gold": ["mailer"]},
    {"id": "2", "query": "Will it rain?", "gold": ["weather"]},
]


@pytest.fixture
def run(tmp_path, monkeypatch):
    for variable in [name for name in os.environ if name.startswith(("ATC_", "OPENAI_"))]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    monkeypatch.setenv("ATC_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("ATC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.json").write_text(json.dumps({"tools": TOOLS, "queries": QUERIES}))

    def invoke(*arguments, replies=()):
        (tmp_path / "model.json").write_text(json.dumps([json.dumps(reply) for reply in replies]))
        given = ["--data", "data.json", "--out", "out.jsonl", "--method", "bm25", "--model", "scripted:model.json"]
        return CliRunner().invoke(cli, ["bench", "data", "toolqp", *given, "--candidates", "1", *arguments])

    return invoke


REPLIES = [
    {"plan": "Send."},
    {"goal": "Send a letter."},
    {"query": "send a letter"},
    {"plan": "Look."},
    {"goal": "Get a forecast."},
    {"query": "rain forecast"},
]


def test_conversations_are_written_and_the_figures_told(run, tmp_path):
    result = run("--json", replies=REPLIES)
    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["id"] for row in rows] == ["1", "2"]
    assert rows[0]["messages"][-3]["content"] == "<query>send a letter</query>"
    told = json.loads(result.stdout)
    assert (told["trajectories"], told["valid"]["1"], told["model_calls"]) == (2, 2, 6)


def test_the_same_command_goes_on_and_asks_nothing_again(run):
    first = run(replies=REPLIES)
    again = run()
    assert (again.exit_code, again.stdout) == (0, first.stdout)
    assert "made     2 of 2 requests" in again.stdout


def test_other_settings_need_another_file(run):
    run(replies=REPLIES)
    result = run("--format")
    assert result.exit_code != 0
    assert "tool_format was False, is True" in str(result.exception)


def test_a_file_that_is_not_there_is_told_of(run, tmp_path):
    (tmp_path / "data.json").unlink()
    result = run()
    assert result.exit_code != 0
    assert "there is nothing at 'data.json'" in str(result.exception)
