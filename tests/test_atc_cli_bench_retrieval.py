"""`atc bench run retrieval`, driven as a person drives it, over a handful of tools and without weights."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

np = pytest.importorskip("numpy")
pytest.importorskip("bm25s")
pytest.importorskip("Stemmer")

import atc.cli.bench_retrieval_run  # noqa: E402 - needs numpy
import atc.retrieve.embedders  # noqa: E402
from atc.cli.main import cli  # noqa: E402
from atc.models.scripted import ScriptedModel  # noqa: E402
from protocols.errors import AtcError, ModelUnavailable  # noqa: E402

TOOLS = {
    "mail": "Sends letters to people by electronic mail.",
    "maps": "Finds the shortest way between two towns.",
    "bank": "Pays money from one account to another.",
    "cook": "Suggests recipes for the food in the fridge.",
    "song": "Plays music of a given singer.",
}
QUERIES = {
    "q1": ("Write a letter to Ann", ["mail"]),
    "q2": ("Which way is the shortest to Bonn?", ["maps"]),
    "q3": ("Pay the singer for the music", ["bank", "song"]),
    "q4": ("Pay for the food in the fridge", ["bank", "cook"]),
}


class _Words:
    """An embedding model in which texts are near that share words."""

    name, dimensions = "minilm", 64

    def documents(self, texts: Sequence[str]) -> Any:
        vectors = np.full((len(texts), 64), 1e-3, dtype=np.float32)
        for row, text in enumerate(texts):
            for word in "".join(c if c.isalpha() else " " for c in text.lower()).split():
                vectors[row, zlib.crc32(word.encode()) % 64] += 1
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    queries = documents


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in [name for name in os.environ if name.startswith(("ATC_", "OPENAI_"))]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    monkeypatch.setenv("ATC_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("ATC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(atc.retrieve.embedders, "choose", lambda *_, **__: _Words())


@pytest.fixture
def data(tmp_path: Path) -> str:
    tools = [{"id": name, "description": description} for name, description in TOOLS.items()]
    queries = [{"id": name, "query": text, "gold": gold} for name, (text, gold) in QUERIES.items()]
    path = tmp_path / "letters.json"
    path.write_text(json.dumps({"tools": tools, "queries": queries}), encoding="utf-8")
    return str(path)


@pytest.fixture
def say_so(monkeypatch: pytest.MonkeyPatch):
    """Makes a model with these replies the one that `--model` names."""

    def choose(*replies: Any) -> ScriptedModel:
        model = ScriptedModel(*replies)
        monkeypatch.setattr(atc.cli.bench_retrieval_run, "choose_model", lambda *_, **__: model)
        return model

    return choose


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["bench", "run", "retrieval", *arguments])


def _json(*arguments: str, status: int = 0) -> Any:
    result = _run(*arguments, "--json")
    assert result.exit_code == status, result.output
    return json.loads(result.stdout)


def test_named_methods_in_one_table(data: str) -> None:
    result = _run("--data", data, "--method", "bm25", "--method", "dense")
    assert result.exit_code == 0, result.output
    head, *table = result.stdout.splitlines()
    assert head.split()[:3] == ["method", "queries", "ndcg@1"]
    assert [line.split()[:2] for line in table[:2]] == [["bm25", "4"], ["dense", "4"]]
    assert any(line.startswith("dense against bm25: nDCG@5") for line in table)


def test_without_a_method_only_those_run_that_ask_no_model(data: str) -> None:
    found = _json("--data", data)
    names = [method["method"] for method in found["methods"]]
    assert names[:3] == ["bm25", "dense", "hybrid"]
    assert not {"hyde", "toolqp", "anytool", "reinvoke"} & set(names)
    assert all(method["model_calls_p50"] == 0 for method in found["methods"])
    assert found["model"] == "none"


def test_rows_are_continued_and_a_finished_run_begins_anew(data: str, tmp_path: Path) -> None:
    out = str(tmp_path / "rows.jsonl")
    first = _json("--data", data, "--method", "bm25", "--limit", "2", "--out", out)
    assert first["methods"][0]["queries"] == 2
    kept = Path(out).read_text().splitlines()
    _json("--data", data, "--method", "bm25", "--method", "dense", "--out", out)
    assert Path(out).read_text().splitlines()[: len(kept)] == kept
    assert len(Path(out).read_text().splitlines()) == 1 + 4 + 4
    one, two = (_json("--data", data, "--method", "bm25")["rows"] for _ in range(2))
    assert one != two
    assert sorted(Path(one).parent.iterdir()) == sorted([Path(one), Path(two)])


def test_a_stopped_run_is_found_again(data: str) -> None:
    path = Path(_json("--data", data, "--method", "bm25")["rows"])
    path.write_text("\n".join(path.read_text().splitlines()[:3]) + "\n")
    assert _json("--data", data, "--method", "bm25")["rows"] == str(path)
    assert len(path.read_text().splitlines()) == 5


def test_a_method_that_cannot_be_built_is_left_out_and_the_run_is_finished(data: str) -> None:
    result = _run("--data", data, "--json")
    first = json.loads(result.stdout)["rows"]
    assert "reinvoke-split is left out: the tools have no synthetic queries yet" in result.stderr
    assert _json("--data", data)["rows"] != first
    named = _run("--data", data, "--method", "reinvoke-split")
    assert isinstance(named.exception, AtcError)


def test_a_method_that_asks_goes_through_several_at_once(data: str, say_so: Any) -> None:
    model = say_so(*["A letter is a text that is sent by electronic mail."] * 100)
    found = _json(
        "--data", data, "--method", "hyde:on=bm25,samples=1", "--model", "scripted", "--workers", "3", "--limit", "3"
    )
    [hyde] = found["methods"]
    assert (hyde["queries"], hyde["model_calls_p50"]) == (3, 1)
    assert hyde["tokens_p50"] > 0
    assert len(model.prompts) == 3
    assert found["model"] == "scripted"


def test_an_outage_keeps_what_was_found_and_tells_how_to_go_on(data: str, say_so: Any, tmp_path: Path) -> None:
    arguments = ["--data", data, "--method", "bm25", "--method", "hyde:on=bm25,samples=1", "--model", "scripted"]
    arguments += ["--out", str(tmp_path / "rows.jsonl")]
    say_so("A letter to a friend is mail.", *[ModelUnavailable("the endpoint is down.")] * 20)
    result = _run(*arguments)
    assert result.exit_code == 3
    assert "3 outages" in result.stdout
    model = say_so(*["A letter to a friend is mail."] * 3)
    found = _json(*arguments)
    assert [method["queries"] for method in found["methods"]] == [4, 4]
    assert len(model.prompts) == 3


def test_expansions_are_written_once_and_searched(data: str, say_so: Any, tmp_path: Path) -> None:
    def reply(messages: Sequence[Any]) -> str:
        about = next(name for name, said in TOOLS.items() if said in messages[-1].content)
        return json.dumps(
            {"query": f"{TOOLS[about].split()[0]} {about[::-1]} for me, number {len(model.prompts)}, please"}
        )

    model = say_so(*[reply] * 40)
    arguments = ["--data", data, "--index", str(tmp_path / "index"), "--model", "scripted"]
    expand = [*arguments, "--expand", "--kinds", "queries", "--queries", "2"]
    assert _json(*expand)["expanded"]["model_calls"] == 10
    assert _json(*expand)["expanded"]["model_calls"] == 0
    found = _json(*arguments[:4], "--measure", "round-trip", "--method", "bm25", "--method", "reinvoke-split")
    assert found["data"].endswith("(round trip)")
    assert [method["queries"] for method in found["methods"]] == [5, 5]  # of each tool's two, one is held out
    assert found["methods"][1]["metrics"]["recall@5"] == 1


def test_tools_without_queries_need_synthetic_ones(tmp_path: Path) -> None:
    path = tmp_path / "listing.json"
    path.write_text(json.dumps({"tools": [{"id": "a", "description": "b"}]}))
    result = _run("--data", str(path), "--method", "bm25")
    assert result.exit_code == 2
    assert "--expand" in result.stderr


def test_abstention(data: str) -> None:
    found = _json("--data", data, "--measure", "abstention")["abstention"]
    assert found["asked"] == 2
    assert 0 <= found["recall"] <= 1


def test_closure_is_of_toolflows_tasks(data: str) -> None:
    result = _run("--data", data, "--measure", "closure")
    assert result.exit_code == 2
    assert "give --data toolflow" in result.stderr


def test_closure_over_each_kind_of_links() -> None:
    found = _json("--data", "toolflow", "--measure", "closure", "--method", "bm25", "--limit", "5")["closure"]
    assert [(one["links"], one["tasks"]) for one in found[:3]] == [
        ("none", "all"),
        ("declared", "all"),
        ("guessed", "all"),
    ]
    assert found[0]["gain"] is None
    assert found[1]["gain"]["mean"] == pytest.approx(found[1]["completeness"] - found[0]["completeness"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--data", "absent.json"], "there is nothing at 'absent.json'"),
        (["--data", "absent.json", "--method", "bm52"], "no method of search is named 'bm52'; did you mean 'bm25'?"),
    ],
)
def test_what_cannot_be_run_is_said(arguments: list[str], said: str) -> None:
    result = _run(*arguments)
    assert isinstance(result.exception, AtcError)
    assert said in str(result.exception)
