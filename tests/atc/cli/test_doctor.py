"""`atc doctor`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("own_folders", "shared_sandbox")


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
