"""`atc config`."""

from __future__ import annotations

import json
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
