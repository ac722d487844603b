"""Files of a run in a folder of the user: they overwrite nothing and stay in the folder."""

from dataclasses import replace

import pytest

from atc.run.saved_files import save_files
from protocols.files import FileMissing, TemporaryFiles, file_of_bytes
from protocols.private_files import CannotWrite


@pytest.fixture
def save(tmp_path):
    """`save(*names)` writes a file of each name to the folder `out`, and returns their names."""

    def write(*names, data=b"new", folder=tmp_path / "out"):
        kept = TemporaryFiles()
        file = file_of_bytes(data, "x")
        kept.add(file)
        infos = [replace(file.info, name=name) for name in names]
        return [path.name for path in save_files(infos, kept, folder)]

    return write


def test_a_file_takes_the_place_of_none(save, tmp_path):
    assert save("report.pdf") == ["report.pdf"]
    assert save("report.pdf", "report.pdf", data=b"other") == ["report-2.pdf", "report-3.pdf"]
    assert (tmp_path / "out/report.pdf").read_bytes() == b"new"


@pytest.mark.parametrize("name", ["../../.bashrc", "/tmp/x/.bashrc", "..\\.bashrc", ".bashrc"])
def test_no_name_leads_out_of_the_folder(save, tmp_path, name):
    assert save(name) == ["bashrc"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_in_the_folder_is_not_followed(save, tmp_path, exists):
    target = tmp_path / "target"
    if exists:
        target.write_text("old")
    (tmp_path / "out").mkdir()
    (tmp_path / "out/report.pdf").symlink_to(target)
    assert save("report.pdf") == ["report-2.pdf"]
    assert target.exists() == exists
    assert not exists or target.read_text() == "old"


def test_bytes_that_are_gone_leave_no_file(tmp_path):
    info = file_of_bytes(b"x", "a.txt").info
    with pytest.raises(FileMissing):
        save_files([info], TemporaryFiles(), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_a_file_is_said(save, tmp_path):
    (tmp_path / "out").write_text("")
    with pytest.raises(CannotWrite, match="cannot write to the folder"):
        save("a.txt")
