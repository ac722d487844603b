"""`atc models`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("own_folders", "shared_sandbox")


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


def test_a_pull_succeeds_without_readable_tools(atc_, tmp_path, monkeypatch) -> None:
    fetched = tmp_path / "model.gguf"
    fetched.write_bytes(b"weights")
    monkeypatch.setattr("atc.cli.models.fetch", lambda *_, **__: fetched)
    monkeypatch.setenv("ATC_TOOLS", "http://127.0.0.1:9/openapi.json")
    code, out, err = atc_("models", "pull")
    assert (code, out) == (0, f"{fetched}\n")
    assert "The model is there, but the tools were not read: " in err
    assert "127.0.0.1:9" in err
