"""The files of a dense index: the vectors, inverted lists where there are many, and a manifest, written last."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from atc.retrieve.base import RetrievalUnavailable
from atc.retrieve.dense.lists import Lists
from protocols.files import write_whole

FORMAT = 1
EXACT_ROWS = 100_000
"""Documents up to which a query is compared with all, a millisecond for 50,000; beyond it inverted lists come first."""
_VECTORS, _LISTS, _MANIFEST = "vectors.npy", "lists.faiss", "dense.json"


def save(folder: Path, vectors: Any, embedder: str) -> None:
    """Write `vectors` (rows, dimensions), made by the embedder of that name; what was there is replaced.

    Up to EXACT_ROWS they are kept as float32, beyond as float16: half the room, cosines differ in the fifth decimal.

    Raises:
        RetrievalUnavailable: there are so many that faiss is needed, and it is not installed.
        CannotWrite: the manifest cannot be written.
        OSError: another file cannot.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _MANIFEST).unlink(missing_ok=True)  # until all is there, it is no index
    many = len(vectors) > EXACT_ROWS
    with_lists = {_LISTS: Lists.build(vectors).save} if many else {}
    kept = np.asarray(vectors, np.float16 if many else np.float32)
    sizes = {
        name: _write(folder / name, writer)
        for name, writer in {_VECTORS: lambda path: _save_array(path, kept), **with_lists}.items()
    }
    manifest = {"format": FORMAT, "embedder": embedder, "rows": len(kept), "dimensions": kept.shape[1], "bytes": sizes}
    write_whole(folder / _MANIFEST, json.dumps(manifest))


def load(folder: Path) -> tuple[str, Any, Lists | None]:
    """The embedder's name, the vectors, memory-mapped, and the inverted lists if there are any.

    Raises:
        RetrievalUnavailable: no index is there, or it is damaged or of another version.
    """
    manifest = _manifest(folder)
    try:
        for name, size in manifest["bytes"].items():
            if (found := (folder / name).stat().st_size) != size:
                raise _damaged(folder, f"{name} has {found:,} bytes, expected {size:,}")
        shape = (manifest["rows"], manifest["dimensions"])
        vectors = np.load(folder / _VECTORS, mmap_mode="r") if shape[0] else np.load(folder / _VECTORS)
        lists = Lists.open(folder / _LISTS) if _LISTS in manifest["bytes"] else None
        embedder = str(manifest["embedder"])
    except (OSError, ValueError, EOFError, KeyError, TypeError, AttributeError) as error:
        raise _damaged(folder, f"{type(error).__name__}: {error}") from error
    if vectors.shape != shape or (lists is not None and (lists.rows, lists.dimensions) != shape):
        raise _damaged(folder, "its files do not belong together")
    return embedder, vectors, lists


def _manifest(folder: Path) -> Any:
    try:
        manifest = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
        version = manifest["format"]
    except FileNotFoundError:
        raise RetrievalUnavailable(
            f"there is no finished dense index in {str(folder)!r}; build it with 'atc tools index'."
        ) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _damaged(folder, f"{_MANIFEST} cannot be read") from error
    if version != FORMAT:
        raise RetrievalUnavailable(
            f"the dense index in {str(folder)!r} has format {version!r}, this version reads {FORMAT}; build it anew."
        )
    return manifest


def _damaged(folder: Path, problem: str) -> RetrievalUnavailable:
    return RetrievalUnavailable(f"the dense index in {str(folder)!r} is damaged ({problem}); build it anew.")


def _write(path: Path, writer: Callable[[Path], None]) -> int:
    """The bytes written; a file that another process has mapped is replaced, never changed."""
    partial = path.with_suffix(".partial")
    try:
        writer(partial)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return path.stat().st_size


def _save_array(path: Path, array: Any) -> None:
    with path.open("wb") as file:
        np.save(file, array)
