"""`config`, `doctor`, `models` and `bench`, driven as a person drives them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import atc.cli.pool
from atc.agent import Agent
from atc.config import Config
from protocols.ask import Completion
from protocols.errors import ModelUnavailable
from protocols.sources import load_tools

pytestmark = pytest.mark.usefixtures("own_folders")


def test_config_shows_each_setting_with_its_origin(atc_, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user = tmp_path / "user" / "atc"
    user.mkdir(parents=True, exist_ok=True)
    tables = "[credentials.x]\nvalue = 's3cret'\nhosts = ['a.org']\n[headers.'a.org']\nAccept = 'b'\n"
    (user / "config.toml").write_text(tables)
    (tmp_path / "atc.toml").write_text("max_calls = 20\n")
    monkeypatch.setenv("ATC_MAX_TOOLS", "3")
    code, out, err = atc_("config", "show")
    assert code == 0
    rows = {line.split()[0]: line.split()[1:] for line in out.splitlines()}
    assert rows["max_calls"] == ["20", "atc.toml"]
    assert rows["max_tools"] == ["3", "ATC_MAX_TOOLS"]
    assert rows["max_repairs"] == ["3", "default"]
    assert rows["credentials.x"][:2] == ['{"value":', '"***",']
    assert rows["headers.a.org"][:2] == ['{"Accept":', '"b"}']
    assert "s3cret" not in out + err
    assert str(tmp_path / "user" / "atc" / "config.toml") in err
    code, out, _ = atc_("config", "show", "--json")
    document = json.loads(out)
    assert document["max_calls"] == {"value": 20, "from": "atc.toml"}
    assert document["credentials.x"]["value"]["value"] == "***"
    assert "s3cret" not in out


def test_doctor_tries_things_out(atc_, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("atc.cli.doctor.NAMES", ("zygote", "monty", "trusted"))  # a container takes seconds
    code, out, err = atc_("doctor", "--json")
    checks = {check["name"]: check for check in json.loads(out)}
    assert (code, err) == (0, ""), checks
    zygote = checks["sandbox zygote"]["detail"]
    assert zygote.startswith("print(1) in ")
    assert "seccomp" in zygote
    assert "auto takes this one" in zygote
    assert "no boundary" in checks["sandbox trusted"]["detail"]
    assert checks["sandbox monty"]["state"] in ("ok", "missing")
    assert checks["model"]["state"] == "missing"
    assert checks["runs"]["state"] == checks["cache"]["state"] == "ok"


def test_doctor_says_what_is_wrong(atc_, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("atc.cli.doctor.NAMES", ("zygote",))
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ATC_CACHE_DIR", str(tmp_path / "file" / "cache"))
    monkeypatch.setenv("ATC_STATE_DIR", str(tmp_path / "file" / "state"))
    monkeypatch.setenv("ATC_MODEL_PATH", "nowhere.gguf")
    code, out, _ = atc_("doctor")
    assert code == 3
    lines = {line.split()[0]: line for line in out.splitlines()}
    assert "failed" in lines["cache"]
    assert "set ATC_CACHE_DIR" in lines["cache"]
    assert "set ATC_STATE_DIR" in lines["runs"]
    assert "'nowhere.gguf', which is no file" in lines["model"]


def test_models_that_can_be_used(atc_, monkeypatch: pytest.MonkeyPatch) -> None:
    local, small, *others = json.loads(atc_("models", "list", "--json")[1])
    embedders = [row for row in others if row["kind"] == "embedding"]
    assert {row["state"] for row in others if row["kind"] == "language"} <= {"fits", "served"}
    assert [row["in_use"] for row in embedders].count(True) == 1
    assert (local["name"], local["state"], local["in_use"]) == ("local", "not fetched", True)
    assert (small["name"], small["in_use"]) == ("smollm2", False)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    code, out, _ = atc_("models", "list")
    assert code == 0
    assert out.splitlines()[2].split() == ["*", "(endpoint)", "set", "http://127.0.0.1:9/v1"]


def test_bench_list(atc_) -> None:
    assert atc_("bench", "list")[1].startswith("toolflow  587 tasks")
    assert [suite["name"] for suite in json.loads(atc_("bench", "list", "--json")[1])] == [
        "toolflow",
        "flights",
    ]


MATHS = '''
def double(number: int) -> int:
    """Twice a number.

    read_only = True
    """
    return 2 * number
'''


class Scripted:
    """Writes a program that doubles the last number of the question, or is down for one question."""

    name = "scripted"
    prompt_tokens = 4000

    def __init__(self) -> None:
        self.down_for = "2"
        self.asked = 0

    def __call__(self, messages, **options) -> Completion:
        self.asked += 1
        number = messages[-1].content.partition("twice ")[2][0]
        if number == self.down_for:
            raise ModelUnavailable("the model is down; start it.")
        program = f"print(double(number={number}))"
        return Completion(text=f"```python\n{program}\n```", model=self.name, input_tokens=10, output_tokens=5)


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scripted:
    (tmp_path / "maths.py").write_text(MATHS)
    rows = [
        {"id": f"q{n}", "question": f"What is twice {n}?", "answer": 2 * n, "type": "number", "calls": n}
        for n in (1, 2, 3)
    ]
    (tmp_path / "q.jsonl").write_text("\n".join(map(json.dumps, rows)))
    scripted = Scripted()

    @contextmanager
    def open_agent(config: Config, *, talk, **_) -> Iterator[Agent]:
        with Agent(load_tools("maths.py"), model=scripted, config=config) as agent:
            yield agent

    monkeypatch.setattr(atc.cli.pool, "open_agent", open_agent)
    return scripted


def test_bench_run_counts_outages_apart_and_goes_on(atc_, model: Scripted, tmp_path: Path) -> None:
    command = ("bench", "run", "flights", "--data", "q.jsonl", "--json")
    code, out, err = atc_(*command)
    summary = json.loads(out)
    assert (code, summary["graded"], summary["solved"], summary["outages"]) == (3, 2, 2, 1), err
    assert summary["by_calls"]["2-3"] == {"solved": 1, "graded": 1}
    assert "q2: the model is down; start it." in err
    assert "  3/3  right" in err
    model.down_for, before = "", model.asked
    code, out, err = atc_(*command)
    again = json.loads(out)
    assert (code, again["solved"], again["outages"], again["rows"]) == (0, 3, 0, summary["rows"])
    assert model.asked > before
    assert "q1" not in err
    anew = json.loads(atc_(*command, "--limit", "1")[1])  # that run is complete, so this is another one
    assert (anew["questions"], anew["rows"] == summary["rows"]) == (1, False)


def test_models_test_asks_one_question(atc_, tmp_path: Path) -> None:
    (tmp_path / "replies.json").write_text('["def add(a, b): return a + b \\u001b[2J"]')
    code, out, err = atc_("models", "test", "--model", "scripted:replies.json")
    assert (code, out) == (0, "def add(a, b): return a + b \\x1b[2J\n")
    assert err.startswith("scripted: ")
    document = json.loads(atc_("models", "test", "--model", "scripted:replies.json", "--json")[1])
    assert document["reply"].startswith("def add")
    code, out, err = atc_("models", "test", "--model", "scripted:nowhere.json")
    assert code == 3
    assert out == ""
    assert err.startswith("atc: ")
    assert err.count("\n") == 1
