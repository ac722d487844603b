"""`atc bench data anytool`, driven as a person drives it, with a scripted writer."""

import json
import os

import pytest
from click.testing import CliRunner

from atc.cli.main import cli
from tests.hierarchy_lab import call, verdict
from toolflow_bench.anytoolbench.templates import pool_of_data

QUERY = (
    "We want to spend Sunday afternoon in Verona and need to know what the chance of rain is there, and which cake the "
    "baker near the arena sells, so that we can plan a picnic or stay at home."
)
CALLS = [{"api": "sky/Rain", "arguments": {"city": "Verona"}}, {"api": "pan/Cakes", "arguments": {}}]


@pytest.fixture
def run(tmp_path, monkeypatch):
    for variable in [name for name in os.environ if name.startswith(("ATC_", "OPENAI_"))]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    monkeypatch.setenv("ATC_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("ATC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    city = {"name": "city", "type": "STRING", "description": "where", "default": ""}
    apis = [
        {"category_name": "Weather", "tool_name": "sky", "api_name": "Rain", "required_parameters": [city],
         "template_response": {"city": "str", "chance": "int"}},
        {"category_name": "Food", "tool_name": "pan", "api_name": "Cakes", "template_response": {"cake": "str"}},
        {"category_name": "Food", "tool_name": "pan", "api_name": "Mute"},
    ]  # fmt: skip
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "apis.json").write_text(json.dumps(apis))

    def invoke(*arguments, replies=()):
        (tmp_path / "model.json").write_text(json.dumps(replies))
        given = ["--out", "out.jsonl", "--model", "scripted:model.json", "--queries", "1"]
        return CliRunner().invoke(cli, ["bench", "data", "anytool", *given, *(arguments or ("--data", "data"))])

    return invoke


@pytest.fixture
def replies(run, tmp_path):  # the folder of data is `run`'s
    pool = pool_of_data(tmp_path / "data", seed=0)
    chance = pool["sky/Rain"].call({"city": "Verona"})["chance"]
    cake = pool["pan/Cakes"].call({})["cake"]
    return [
        call("add_API_into_API_pool", apis=["sky/Rain", "pan/Cakes"]),
        call("finish", query=QUERY, solution=CALLS, answer=f"A chance of {chance} percent; {cake}."),
        verdict("resolved"),
        verdict("keep"),
    ]


def test_queries_are_written_and_the_figures_told(run, replies, tmp_path):
    result = run("--data", "data", "--json", replies=replies)
    assert result.exit_code == 0, result.output
    header, row = (json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines())
    assert (header["format"], header["explore"], header["seed"]) == ("atc-anytoolbench-1", 20, 0)
    assert (row["gold"], row["categories"]) == (["sky/Rain", "pan/Cakes"], ["Weather", "Food"])
    told = json.loads(result.stdout)
    assert (told["queries"], told["attempts"], told["model_calls"]) == (1, 1, 4)
    assert "1 wanted over 2 APIs" in result.stderr
    assert "Left out, since nothing is known of their responses: 1 of 3 APIs." in result.stderr


def test_the_same_command_goes_on_and_asks_nothing_again(run, replies):
    first = run(replies=replies)
    again = run()
    assert (again.exit_code, again.stdout) == (0, first.stdout)
    assert "queries  1 of 1 attempts, 2 calls in solutions" in again.stdout


def test_another_seed_needs_another_file(run, replies):
    run(replies=replies)
    result = run("--data", "data", "--seed", "1")
    assert result.exit_code != 0
    assert "seed was 0, is 1" in str(result.exception)


def test_two_sources_of_apis_are_one_too_many(run):
    result = run("--data", "data", "--tools", "x.json")
    assert result.exit_code == 2
    assert "give one of them" in result.output


def test_data_that_are_not_there_are_told_of(run):
    result = run("--data", "nowhere")
    assert "there is nothing at 'nowhere'" in str(result.exception)


def test_tools_that_only_write_make_no_query(run, tmp_path):
    (tmp_path / "tools.py").write_text('def order(cake: str) -> str:\n    """Orders a cake."""\n    return cake\n')
    result = run("--tools", "tools.py")
    assert result.exit_code != 0
    assert "a query takes APIs of 2 categories at least" in str(result.exception)
