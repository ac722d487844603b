"""Files of settings."""

from pathlib import Path

from atc.cli.settings_files import project_file, read_file, read_trusted, trust


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
