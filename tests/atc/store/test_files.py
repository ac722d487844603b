"""The files of stored runs: kept with the run, read by it alone, and deleted with it."""

import hashlib
import time

import pytest

from protocols.files import PIECE_BYTES, FileMissing, FileValue, file_of_bytes
from tests.labs.stores import both_stores, open_store

LARGE = bytes(range(256)) * (PIECE_BYTES // 256) * 3 + b"the end"


@both_stores
@pytest.mark.parametrize("data", [b"", b"x", LARGE[:PIECE_BYTES], LARGE])
def test_a_file_is_there_after_reopening(place, data):
    file = file_of_bytes(data, "a.bin")
    with open_store(place) as store:
        run = store.create("task")
        store.files(run).add(file)
        store.files(run).add(file)
    with open_store(place) as store:
        kept = FileValue(file.info, store.files(run).content(file.info))
        assert hashlib.sha256(kept.whole()).hexdigest() == file.info.sha256


@both_stores
def test_a_run_reads_its_own_files_only(place):
    file = file_of_bytes(b"secret", "a.txt")
    with open_store(place) as store:
        first, second = store.create("one"), store.create("two")
        store.files(first).add(file)
        with pytest.raises(FileMissing, match=r"the bytes of 'a\.txt' are not stored"):
            store.files(second).content(file.info).read(0, 9)


@both_stores
def test_a_purged_run_leaves_no_file(place):
    file = file_of_bytes(b"secret", "a.txt")
    with open_store(place) as store:
        run = store.create("task")
        store.files(run).add(file)
        store.finish(run, status="interrupted")
        store.delete([run])
        with pytest.raises(FileMissing):
            store.files(run).content(file.info).read(0, 9)


def test_no_byte_of_a_purged_file_is_left(place):
    secret = b"nobody may find this text again"
    with open_store(place) as store:
        run = store.create("task")
        store.files(run).add(file_of_bytes(secret * 1000, "a.txt"))
        store.finish(run, status="interrupted")
        store.delete([run])
        assert all(secret not in path.read_bytes() for path in store.path.parent.iterdir())


@both_stores
def test_old_files_go_and_their_run_stays(place, monkeypatch):
    file = file_of_bytes(b"x", "a.txt")
    now = time.time()
    with open_store(place) as store:
        store.keep_days = 7
        kept = {}
        for days in (8, 6):
            monkeypatch.setattr(time, "time", lambda days=days: now - days * 86_400)
            kept[days] = store.create(f"{days} days ago")
            store.files(kept[days]).add(file)
        monkeypatch.setattr(time, "time", lambda: now)
        store.create("now")
        assert store.load(kept[8]).summary.task == "8 days ago"
        assert store.files(kept[6]).content(file.info).read(0, 9) == b"x"
        with pytest.raises(FileMissing):
            store.files(kept[8]).content(file.info).read(0, 9)
