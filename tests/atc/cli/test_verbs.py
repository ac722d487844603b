"""`config`, `doctor`, `models` and `bench`, driven as a person drives them."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("own_folders", "shared_sandbox")


def test_config_shows_each_setting_with_its_origin(
    atc_, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = tmp_path / "user" / "atc"
    user.mkdir(parents=True, exist_ok=True)
    tables = (
        "[credentials.x]\nvalue = 's3cret'\nhosts = ['a.org']\n[headers.'a.org']\nAccept = 'b'\n"
    )
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
    monkeypatch.setattr(
        "atc.cli.doctor.NAMES", ("zygote", "monty", "unconfined")
    )  # a container takes seconds
    code, out, err = atc_("doctor", "--json")
    checks = {check["name"]: check for check in json.loads(out)}
    assert (code, err) == (0, ""), checks
    zygote = checks["sandbox zygote"]["detail"]
    assert zygote.startswith("print(1) in ")
    assert "seccomp" in zygote
    assert checks["sandbox"]["detail"] == "auto takes zygote"
    assert "no boundary" in checks["sandbox unconfined"]["detail"]
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
    code, _, err = atc_("run", "x", "--tools", "colorsys")
    assert (code, "Go on with" in err) == (3, False)  # no run had begun


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


def test_bench_run_grades_answers_with_given_tools(atc_, tmp_path: Path) -> None:
    (tmp_path / "maths.py").write_text(MATHS)
    (tmp_path / "replies.json").write_text(json.dumps(["```python\nprint(double(number=2))\n```"]))
    question = {
        "id": "q1",
        "question": "What is twice 2?",
        "answer": 4,
        "type": "number",
        "calls": 1,
    }
    (tmp_path / "q.jsonl").write_text(json.dumps(question))
    command = (
        "bench",
        "run",
        "flights",
        "--data",
        "q.jsonl",
        "--tools",
        "maths.py",
        "--strategy",
        "chain",
        "--json",
    )
    code, out, err = atc_(*command, "--model", "scripted:replies.json")
    summary = json.loads(out)
    assert (code, summary["graded"], summary["solved"], summary["outages"]) == (0, 1, 1, 0), err
    assert "  1/1  right" in err


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


def test_a_taken_address_is_reported_before_serving(atc_, tmp_path: Path) -> None:
    (tmp_path / "sums.py").write_text("def add(a: int, b: int) -> int:\n    return a + b\n")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, out, err = atc_(
            "serve", "--tools", "sums.py", "--http", f"127.0.0.1:{taken.getsockname()[1]}"
        )
    assert (code, out, "choose another address or port" in err, "Serving" in err) == (
        3,
        "",
        True,
        False,
    )
