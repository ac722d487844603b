"""Files and folders that only their user can read or change."""

import stat
from pathlib import Path

import pytest

from protocols.private_files import NotPrivate, keep_private, private_folder, write_whole


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_what_is_written_is_private(tmp_path: Path) -> None:
    write_whole(tmp_path / "a.txt", "text")
    assert ((tmp_path / "a.txt").read_text(), mode(tmp_path / "a.txt")) == ("text", 0o600)
    private_folder(tmp_path / "folder")
    assert mode(tmp_path / "folder") == 0o700
    (tmp_path / "a.txt").chmod(0o644)
    keep_private(tmp_path / "a.txt")
    assert mode(tmp_path / "a.txt") == 0o600


def test_a_link_is_not_private(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(NotPrivate):
        private_folder(tmp_path / "link")
