"""The values that files are on the host."""

import copy
import json
import pickle

import pytest

from protocols.files import (
    FileTooLarge,
    FileValue,
    Spool,
    described_at,
    file_of_bytes,
    files_in,
    replaced_at,
)


def test_a_copy_of_a_file_is_no_file():
    file = file_of_bytes(b"x", "a.txt")
    assert isinstance(file, FileValue)
    for other in (
        copy.deepcopy(file),
        pickle.loads(pickle.dumps(file)),
        json.loads(json.dumps(file)),
        type(file)(file.items()),
    ):
        assert type(other) is dict
        assert other == file


def test_a_large_file_is_read_in_pieces():
    data = bytes(range(256)) * 20_000
    file = file_of_bytes(data, "a.bin")
    assert max(map(len, file.pieces())) <= 256 * 1024
    assert file.whole() == data
    assert file.content.read(len(data), 5) == b""


def test_a_spool_takes_no_more_than_allowed():
    spool = Spool(most_bytes=10)
    spool.write(b"x" * 10)
    with pytest.raises(FileTooLarge, match=r"raise limits\.max_file_mb"):
        spool.write(b"x")


def test_files_are_found_and_replaced_by_path():
    file = file_of_bytes(b"x", "a.txt")
    value = {"rows": [1, {"f": file}]}
    assert files_in(value) == {("rows", 1, "f"): file}
    assert described_at(value, ("rows", 1, "f")) == file.info
    assert described_at(value, ("rows", 0)) is None
    assert replaced_at(value, ("rows", 1, "f"), None) == {"rows": [1, {"f": None}]}
    with pytest.raises(LookupError):
        replaced_at(value, ("rows", 5), None)
