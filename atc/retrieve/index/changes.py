"""The log of what was put and removed since a segment was written.

A line is the CRC-32 of the rest, a space, and one call's changes as JSON. A last line without its end was being written
by a process that died: it never happened.
"""

from __future__ import annotations

import base64
import json
import os
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from atc.retrieve.document import ToolDocument, dump_document, read_document
from atc.retrieve.index.folder import damaged

_ENCODING = ("ascii", "strict")


def append(
    path: Path, offset: int, put: Iterable[ToolDocument], removed: Iterable[str], vectors: Mapping[str, Any]
) -> int:
    """Write one call's changes at `offset`, where the valid lines end; where they end then.

    `vectors` by digest are kept beside the documents that they are of.

    Raises:
        OSError: the file cannot be written.
    """
    entries = [{"document": dump_document(d), "vector": _packed(vectors.get(d.digest))} for d in put]
    body = json.dumps({"put": entries, "removed": list(removed)}, separators=(",", ":")).encode(*_ENCODING)
    line = b"%08x %s\n" % (zlib.crc32(body), body)
    with path.open("r+b") as file:
        file.truncate(offset)
        file.seek(offset)
        file.write(line)
        file.flush()
        os.fsync(file.fileno())
    return offset + len(line)


def read(path: Path, offset: int = 0) -> tuple[dict[str, ToolDocument | None], dict[str, Any], int]:
    """The changes behind `offset` by name (None: removed), the vectors by digest, and where the valid lines end.

    Raises:
        RetrievalUnavailable: a line is damaged.
    """
    changes: dict[str, ToolDocument | None] = {}
    vectors: dict[str, Any] = {}
    try:
        with path.open("rb") as file:
            file.seek(offset)
            for line in file:
                if not line.endswith(b"\n"):
                    break
                call = _call(line)
                for name in call["removed"]:
                    changes[name] = None
                for entry in call["put"]:
                    document = read_document(entry["document"])
                    changes.pop(document.name, None)  # the last put stands last
                    changes[document.name] = document
                    if entry["vector"] is not None:
                        vectors[document.digest] = np.frombuffer(base64.b64decode(entry["vector"]), dtype="<f4")
                offset += len(line)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise damaged(path.parent, f"{path.name} is not as it was written") from error
    return changes, vectors, offset


def _call(line: bytes) -> Any:
    crc, _, body = line[:-1].partition(b" ")
    if int(crc, 16) != zlib.crc32(body):
        raise ValueError("checksum")
    return json.loads(body)


def _packed(vector: Any) -> str | None:
    return None if vector is None else base64.b64encode(np.asarray(vector, dtype="<f4").tobytes()).decode()
