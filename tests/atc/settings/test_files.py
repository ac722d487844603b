"""Files of settings."""

import threading
from pathlib import Path

import pytest

from atc.cli.toml_edit import set_value
from atc.core.config import InvalidConfig
from atc.settings.files import (
    change_own,
    project_file,
    read_file,
    read_trusted,
    trust,
    user_config_file,
)


def test_a_file_is_trusted_by_its_digest(own_folders: Path) -> None:
    assert read_file(own_folders / "none.toml") is None
    path = project_file(own_folders)
    path.write_text("max_seconds = 5\n")
    path.chmod(0o600)
    assert read_file(path) is not None
    trust(path, "digest")
    assert read_trusted() == {str(path): "digest"}
    trust(path, None)
    assert read_trusted() == {}


def test_changes_at_the_same_time_are_all_kept(own_folders: Path) -> None:
    def change(number: int) -> None:
        change_own(lambda text: set_value(text, (f"a{number}",), number))

    threads = [threading.Thread(target=change, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(read_file(user_config_file()).values) == 8


def test_a_change_by_another_program_is_kept(own_folders: Path) -> None:
    def edit(text: str) -> str:
        user_config_file().write_text("model = 'theirs'\n")
        return "model = 'ours'\n"

    with pytest.raises(InvalidConfig, match="another program has just changed"):
        change_own(edit)
    assert user_config_file().read_text() == "model = 'theirs'\n"


def test_settings_that_cannot_be_written_are_one_sentence(
    own_folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (own_folders / "file").write_text("")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(own_folders / "file"))
    with pytest.raises(InvalidConfig, match=r"cannot write your settings to .*XDG_CONFIG_HOME"):
        change_own(str)
