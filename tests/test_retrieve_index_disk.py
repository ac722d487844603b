"""The folder of an index: damage is noticed, a process that dies loses nothing, and writers wait for each other."""

import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from atc.retrieve.base import RetrievalUnavailable
from atc.retrieve.index import ToolIndex, folder, vectors
from protocols.errors import AtcError
from tests.retrieve_index_lab import BagOfWords, document, found, zoo

ROOT = Path(__file__).parents[1]
FINDS_US = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with an index of thirty tools and three changes."""
    index = ToolIndex.build(zoo(30), folder=tmp_path / "index", embedder=BagOfWords())
    index.put([document("zebras", "counts zebras")])
    index.remove(["tool_7"])
    index.put([document("tool_3", "counts yaks")])
    return tmp_path / "index"


def opened(place: Path) -> ToolIndex:
    return ToolIndex.open(place, embedder=BagOfWords())


def files(place: Path) -> list[str]:
    kept = {"lock", "compared.json"}
    return sorted(p.relative_to(place).as_posix() for p in place.rglob("*") if p.is_file() and p.name not in kept)


def flip(path: Path) -> None:
    """Change one bit in the middle of a file."""
    whole = path.read_bytes()
    middle = len(whole) // 2
    path.write_bytes(whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :])


def test_an_opened_index_is_the_one_that_was_left(place: Path) -> None:
    index = opened(place)
    assert index.pending == 3
    assert len(index.names) == 30
    assert found(index.lexical, "zebras") == ["zebras"]
    assert found(index.dense, "zebras", n=1) == ["zebras"]
    assert "tool_7" not in index.documents


def test_opening_embeds_nothing(place: Path) -> None:
    embedder = BagOfWords()
    ToolIndex.open(place, embedder=embedder).merge()
    assert embedder.asked == []


def test_an_index_is_searched_by_words_without_its_embedder(place: Path) -> None:
    index = ToolIndex.open(place)
    assert found(index.lexical, "yaks") == ["tool_3"]
    with pytest.raises(RetrievalUnavailable, match="bag-of-words"):
        found(index.dense, "yaks")


@pytest.mark.parametrize("harm", ["cut", "flip", "remove", "empty", "garbage"])
def test_any_damaged_file_is_noticed(place: Path, harm: str) -> None:
    for name in files(place):
        path = place / name
        whole = path.read_bytes()
        if harm == "remove":
            path.unlink()
        elif not whole or (harm == "cut" and name.startswith("changes")):
            continue  # a log that ends early is one of a process that died
        elif harm == "cut":
            path.write_bytes(whole[:-1])
        elif harm == "empty" and not name.startswith("changes"):
            path.write_bytes(b"")
        elif harm == "garbage":
            path.write_bytes(os.urandom(len(whole) - 1) + b"\n")
        elif harm == "flip":
            flip(path)
        else:
            continue
        with pytest.raises(RetrievalUnavailable) as caught:
            opened(place)
        assert "atc tools index" in str(caught.value), name
        path.write_bytes(whole)
    assert len(opened(place).names) == 30


def test_a_large_file_is_compared_where_it_was_touched(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "_ALWAYS_COMPARED", 0)
    compared: list[Path] = []
    crc = folder._crc
    monkeypatch.setattr(folder, "_crc", lambda path: (compared.append(path), crc(path))[1])
    opened(place)
    assert compared == []
    postings = next(place.glob("segment-*/lexical/added.npy"))
    os.utime(postings)
    opened(place)
    opened(place)
    assert compared == [postings]
    flip(postings)
    with pytest.raises(RetrievalUnavailable, match=r"added\.npy is not as it was written"):
        opened(place)


def test_what_was_damaged_since_it_was_opened_is_not_merged(place: Path) -> None:
    index = opened(place)
    flip(next(place.glob("segment-*/digests.npy")))
    with pytest.raises(RetrievalUnavailable, match="damaged"):
        index.merge()


def test_a_folder_without_an_index_says_how_to_make_one(tmp_path: Path) -> None:
    assert not ToolIndex.stands(tmp_path)
    with pytest.raises(RetrievalUnavailable, match=r"no index in .* 'atc tools index'"):
        ToolIndex.open(tmp_path)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("format", 99, "has format 99, this version reads 1"),
        ("texts", "of another tokenizer", "reads words or documents in another way"),
        ("embedder", "another", "made with the embedder 'another', not 'bag-of-words'"),
        ("documents", 31, "damaged"),
    ],
)
def test_another_version_is_noticed(place: Path, field: str, value: object, message: str) -> None:
    assert ToolIndex.stands(place)
    manifest = json.loads((place / "manifest.json").read_text())
    (place / "manifest.json").write_text(json.dumps(manifest | {field: value}))
    with pytest.raises(RetrievalUnavailable, match=message) as caught:
        opened(place)
    assert "'atc tools index'" in str(caught.value)
    ToolIndex.build(zoo(3), folder=place, embedder=BagOfWords())  # the next step works
    assert len(opened(place).names) == 3


def test_a_change_of_the_tokenizer_changes_the_fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    before = folder.fingerprint()
    folder.fingerprint.cache_clear()
    monkeypatch.setattr(folder, "tokens", str.split)
    assert folder.fingerprint() != before
    folder.fingerprint.cache_clear()


def test_a_last_line_that_was_cut_off_never_happened(place: Path) -> None:
    [path] = place.glob("changes-*.log")
    path.write_bytes(path.read_bytes()[:-20])
    index = opened(place)
    assert index.pending == 2
    index.put([document("yaks", "counts yaks")])  # over what was left of it
    assert sorted(set(opened(place).names) - {d.name for d in zoo(30)}) == ["yaks", "zebras"]


def test_a_log_that_says_something_else_is_noticed(place: Path) -> None:
    [path] = place.glob("changes-*.log")
    path.write_bytes(path.read_bytes().replace(b"counts zebras", b"counts zebrus"))
    with pytest.raises(RetrievalUnavailable, match=r"changes-000001\.log is not as it was written.*'atc tools index'"):
        opened(place)


def test_other_files_of_the_folder_stay(place: Path) -> None:
    (place / "expansions.sqlite").write_text("theirs")
    (place / "segment-of-mine").mkdir()
    opened(place).merge()
    ToolIndex.build(zoo(3), folder=place)
    assert (place / "expansions.sqlite").read_text() == "theirs"
    assert (place / "segment-of-mine").is_dir()


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(AtcError, match=r"cannot write .*file"):
        ToolIndex.build(zoo(3), folder=tmp_path / "file")


def test_a_reader_keeps_its_index_through_a_merge_and_takes_in_the_new_one_on_refresh(place: Path) -> None:
    reader, writer = opened(place), opened(place)
    writer.put([document("gnus", "counts gnus quickly")])
    writer.merge()
    writer.merge()
    assert len(list(place.glob("segment-*"))) == 1
    assert len(reader.names) == 30
    assert found(reader.lexical, "yaks") == ["tool_3"]
    assert reader.documents["tool_29"] == zoo(30)[29]
    assert found(reader.dense, "zebras", n=1) == ["zebras"]
    assert reader.refresh()
    assert "gnus" in reader.documents
    assert not reader.refresh()
    writer.put([document("elks", "counts elks")])
    assert reader.refresh()
    assert found(reader.lexical, "elks") == ["elks"]


def test_a_writer_adds_to_what_another_wrote(place: Path) -> None:
    first, second = opened(place), opened(place)
    first.put([document("elks", "counts elks")])
    second.put([document("orcas", "counts orcas")])
    first.merge()
    second.remove(["elks"])
    assert sorted(set(opened(place).names) - {d.name for d in zoo(30)}) == ["orcas", "zebras"]


def test_a_second_writer_waits_and_says_so(place: Path) -> None:
    waits = threading.Event()
    index = ToolIndex.open(place, embedder=BagOfWords(), on_message=lambda _: waits.set())
    with folder.locked(place):
        writer = threading.Thread(target=index.put, args=([document("elks")],))
        writer.start()
        assert waits.wait(30)
        assert "elks" not in opened(place).names
    writer.join(30)
    assert "elks" in opened(place).names


KILLED = """
    import os, signal, sys
    from pathlib import Path
    from atc.retrieve.index import ToolIndex, changes, folder
    from retrieve_index_lab import BagOfWords, document, zoo

    place, moment = Path(sys.argv[1]), sys.argv[2]

    def die(*_):
        os.kill(os.getpid(), signal.SIGKILL)

    class Deadly(BagOfWords):
        def documents(self, texts):
            return die() if moment == "embedding" else super().documents(texts)

    class HalfWritten:
        def dumps(self, value, **_):
            path = next(place.glob("changes-*.log"))
            path.write_bytes(path.read_bytes() + b"0123abcd {")
            die()

    index = ToolIndex.open(place, embedder=Deadly())
    if moment == "merging":
        folder.write_whole = die
    if moment == "cleaning":
        folder.drop_others = die
    if moment == "logging":
        changes.json = HalfWritten()
    if moment == "building":
        folder.write_whole = die
        ToolIndex.build(zoo(9), folder=place, embedder=Deadly())
    index.put([document("elks", "counts elks")])
    index.merge()
"""


@pytest.mark.parametrize(
    ("moment", "state"),
    [("embedding", "former"), ("logging", "former"), ("merging", "put"), ("cleaning", "put"), ("building", "former")],
)
def test_a_process_that_is_killed_leaves_the_former_state(place: Path, moment: str, state: str) -> None:
    before = set(opened(place).names)
    killed = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(KILLED), str(place), moment], env=FINDS_US, check=False, timeout=60
    )
    assert killed.returncode == -signal.SIGKILL
    index = opened(place)
    assert set(index.names) == (before if state == "former" else before | {"elks"})
    index.put([document("orcas", "counts orcas")])
    index.merge()
    assert found(opened(place).lexical, "orcas") == ["orcas"]
    assert len(list(place.glob("segment-*"))) == len(list(place.glob("changes-*"))) == 1


class Failing(BagOfWords):
    """Embeds so many texts, then is out of reach."""

    left = 1_000

    def documents(self, texts: Sequence[str]) -> Any:
        self.left -= len(texts)
        if self.left < 0:
            raise RetrievalUnavailable("the endpoint is down")
        return super().documents(texts)


def test_a_build_that_ended_early_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "_EMBEDDED_AT_ONCE", 100)
    with pytest.raises(RetrievalUnavailable, match="down"):
        ToolIndex.build(zoo(1_250), folder=tmp_path, embedder=Failing())
    changed = [document("tool_5", "counts yaks") if d.name == "tool_5" else d for d in zoo(1_250)]
    embedder = BagOfWords()
    index = ToolIndex.build(changed, folder=tmp_path, embedder=embedder)
    assert len(embedder.asked) == 251
    fresh = ToolIndex.build(changed, embedder=BagOfWords())
    assert index.dense is not None
    assert fresh.dense is not None
    assert (index.dense.vectors == fresh.dense.vectors).all()
    assert not (tmp_path / "embedded.sqlite").exists()


def test_what_is_left_of_an_earlier_build_is_of_no_use_when_damaged_or_of_another_embedder(tmp_path: Path) -> None:
    with pytest.raises(RetrievalUnavailable, match="down"):
        ToolIndex.build(zoo(1_250), folder=tmp_path, embedder=Failing())
    assert (tmp_path / "embedded.sqlite").exists()
    other = BagOfWords()
    other.name = "another"
    ToolIndex.build(zoo(600), folder=tmp_path / "other", embedder=other)
    shutil.copy(tmp_path / "embedded.sqlite", tmp_path / "other" / "embedded.sqlite")
    other.asked.clear()
    ToolIndex.build(zoo(600), folder=tmp_path / "other", embedder=other)
    assert len(other.asked) == 600
    (tmp_path / "embedded.sqlite").write_bytes(b"no database at all" * 100)
    embedder = BagOfWords()
    ToolIndex.build(zoo(600), folder=tmp_path, embedder=embedder)
    assert len(embedder.asked) == 600


def test_two_processes_that_build_at_once_leave_one_whole_index(tmp_path: Path) -> None:
    program = """
        import sys
        from pathlib import Path
        from atc.retrieve.index import ToolIndex
        from retrieve_index_lab import zoo
        sys.stdin.read()
        ToolIndex.build(zoo(int(sys.argv[2])), folder=Path(sys.argv[1]))
    """
    builders = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(program), str(tmp_path), count], env=FINDS_US, stdin=subprocess.PIPE
        )
        for count in ("300", "400")
    ]
    for builder in builders:
        assert builder.stdin is not None
        builder.stdin.close()
    assert [builder.wait(60) for builder in builders] == [0, 0]
    index = ToolIndex.open(tmp_path)
    assert len(index.names) in {300, 400}
    assert set(index.names) == {d.name for d in zoo(len(index.names))}
    assert len(list(tmp_path.glob("segment-*"))) == 1
