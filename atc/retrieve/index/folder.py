"""The folder of an index: its manifest, its lock, and whether its files are whole.

The manifest names the segment and the log of changes that are valid; it is written last and replaced in one step, so
that a process that dies leaves the former state and readers never see half of one.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import re
import shutil
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from atc.retrieve.base import RetrievalUnavailable
from atc.retrieve.document import ToolDocument, vector_text, words_text
from atc.retrieve.index.segment import Segment
from atc.retrieve.words import TOKENIZER, tokens
from protocols.files import CannotWrite, cannot_write, write_whole

FORMAT = 1
MANIFEST = "manifest.json"
_LOCK = "lock"
_STAMPS = "compared.json"
_ALWAYS_COMPARED = 64 << 20
"""Bytes that are compared with their checksums whenever an index is opened (50 ms), smallest files first. Larger files
are where they were touched since they were last compared, which is much to read."""
_CHUNK = 1 << 24

_NUMBERED = re.compile(r"segment-[0-9]{6,}|changes-[0-9]{6,}\.log")

OnMessage = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What is valid in a folder."""

    format: int = FORMAT
    texts: str
    """The fingerprint of the tokenizer and of the texts that are made of a document."""
    embedder: str | None
    """The name of the embedder that made the vectors; None: there are none."""
    number: int
    """Counts the segments; names the segment's folder and the log."""
    documents: int
    """How many the segment has."""
    files: dict[str, tuple[int, int]]
    """Bytes and CRC-32 of each file of the segment."""

    @property
    def segment(self) -> str:
        """The name of the segment's folder."""
        return segment_name(self.number)

    @property
    def log(self) -> str:
        """The name of the file of changes since."""
        return f"changes-{self.number:06}.log"


@cache
def fingerprint() -> str:
    """Changes when the tokenizer or the texts made of a document do: indexes made before are then of no use."""
    probe = ToolDocument(
        name="getUserToken2",
        description="Finds the users' HTTPServer naïvely; 搜索工具, поиск!",
        title="Title",
        category="Category",
        collection="collection_v2",
        parameters={"user_id": "whose"},
        required=("user_id",),
        returns=("tokens",),
    )
    made = [TOKENIZER, words_text(probe), vector_text(probe), *tokens(words_text(probe))]
    return hashlib.sha256(json.dumps(made).encode()).hexdigest()[:16]


def read(folder: Path) -> tuple[str, Manifest]:
    """The manifest, as text and as read.

    Raises:
        RetrievalUnavailable: there is none, it is damaged, or of another version.
    """
    try:
        text = (folder / MANIFEST).read_text(encoding="utf-8")
        fields = json.loads(text)
        version = fields["format"]
    except FileNotFoundError:
        raise RetrievalUnavailable(f"there is no index in {str(folder)!r}; build one with 'atc tools index'.") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise damaged(folder, f"{MANIFEST} cannot be read") from error
    if version != FORMAT:
        raise RetrievalUnavailable(
            f"the index in {str(folder)!r} has format {version!r}, this version reads {FORMAT}; rebuild it with"
            " 'atc tools index'."
        )
    try:
        files = {str(name): (int(size), int(crc)) for name, (size, crc) in fields["files"].items()}
        manifest = Manifest(**{**fields, "files": files})
        number = int(manifest.number)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise damaged(folder, f"{MANIFEST} is incomplete") from error
    if manifest.texts != fingerprint() or number < 0:
        raise RetrievalUnavailable(
            f"the index in {str(folder)!r} was made by a version of atc that reads words or documents in another way;"
            " rebuild it with 'atc tools index'."
        )
    return text, manifest


def segment_name(number: int) -> str:
    """The name of a segment's folder."""
    return f"segment-{number:06}"


def manifest_of(place: Path, number: int, segment: Segment) -> Manifest:
    """The manifest of a segment that was just written in the folder `place`."""
    embedder = None if segment.dense is None else segment.dense.embedder.name
    return Manifest(
        texts=fingerprint(), embedder=embedder, number=number, documents=len(segment.names), files=_sums(place)
    )


def commit(folder: Path, manifest: Manifest) -> str:
    """Make `manifest` the valid one and drop what it does not name; its text."""
    text = json.dumps(asdict(manifest), indent=1)
    (folder / manifest.log).touch()
    _stamp(folder, manifest)
    write_whole(folder / MANIFEST, text)
    drop_others(folder, manifest.number)
    return text


def next_number(folder: Path) -> int:
    """A number that no segment of the folder has, whole or not."""
    return 1 + max((number for number, _ in _numbered(folder)), default=0)


def drop_others(folder: Path, valid: int) -> None:
    """Drop the segments and logs of other numbers. Readers of them keep what they have mapped."""
    for number, path in _numbered(folder):
        if number == valid:
            continue
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _numbered(folder: Path) -> list[tuple[int, Path]]:
    found = [(path.stem.partition("-")[2], path) for path in folder.iterdir() if _NUMBERED.fullmatch(path.name)]
    return [(int(number), path) for number, path in found]


def _sums(segment: Path) -> dict[str, tuple[int, int]]:
    """Bytes and CRC-32 of each file of a segment."""
    paths = sorted(path for path in segment.rglob("*") if path.is_file())
    return {path.relative_to(segment).as_posix(): (path.stat().st_size, _crc(path)) for path in paths}


def check(folder: Path, manifest: Manifest, *, all_bytes: bool = False) -> None:
    """See that the files of the segment are whole; with `all_bytes` compare all of them with their checksums.

    Raises:
        RetrievalUnavailable: one is missing, or not as it was written.
    """
    known = _stamps(folder)
    left = _ALWAYS_COMPARED
    compared = False
    for name, (size, crc) in sorted(manifest.files.items(), key=lambda item: item[1]):
        path = folder / manifest.segment / name
        try:
            found = path.stat()
        except OSError as error:
            raise damaged(folder, f"{name} is missing") from error
        if found.st_size != size:
            raise damaged(folder, f"{name} has {found.st_size:,} bytes, expected {size:,}")
        left -= size
        touched = known.get(f"{manifest.segment}/{name}") != found.st_mtime_ns
        if (all_bytes or touched or left >= 0) and _crc(path) != crc:
            raise damaged(folder, f"{name} is not as it was written")
        compared |= touched
    if compared:
        _stamp(folder, manifest)


def _stamps(folder: Path) -> dict[str, int]:
    """When each file was last changed that was compared with its checksum."""
    try:
        return dict(json.loads((folder / _STAMPS).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return {}


def _stamp(folder: Path, manifest: Manifest) -> None:
    names = [f"{manifest.segment}/{name}" for name in manifest.files]
    with suppress(CannotWrite, OSError):  # where the folder may only be read, large files are compared each time
        write_whole(folder / _STAMPS, json.dumps({name: (folder / name).stat().st_mtime_ns for name in names}))


def damaged(folder: Path, problem: str) -> RetrievalUnavailable:
    """The error for an index that cannot be used."""
    return RetrievalUnavailable(
        f"the index in {str(folder)!r} is damaged ({problem}); rebuild it with 'atc tools index'."
    )


@contextmanager
def locked(folder: Path, on_message: OnMessage | None = None) -> Iterator[None]:
    """Hold the right to write; one process has it at a time, the others wait. It ends with its holder.

    Raises:
        CannotWrite: the folder cannot be made or written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / _LOCK).open("w", encoding="utf-8")
    except OSError as error:
        raise cannot_write(folder, error) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if on_message is not None:
                on_message(f"another process is writing the index in {str(folder)!r}; waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _crc(path: Path) -> int:
    crc = 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            crc = zlib.crc32(chunk, crc)
    return crc
