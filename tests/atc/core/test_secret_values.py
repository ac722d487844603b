from __future__ import annotations

from pathlib import Path

import pytest

from atc.core.config import InvalidConfig
from atc.core.secret_values import read_value


def test_secrets_are_read_when_they_are_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "token").write_text("t0ken \nmore\n")
    monkeypatch.setenv("T", "abc")
    assert read_value("x", "env:T") == "abc"
    monkeypatch.setenv("T", "a\r\nX: y")
    assert read_value("x", f"file:{tmp_path / 'token'}") == "t0ken"
    assert read_value("x", "literal") == "literal"
    with pytest.raises(InvalidConfig, match="x: the variable NONE is not set"):
        read_value("x", "env:NONE")
    with pytest.raises(InvalidConfig, match="control characters"):
        read_value("x", "env:T")
