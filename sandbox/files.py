"""The files that one execution of a program may read, and the arguments of calls that are files.

A program names a file by a number that the host gave it in this execution. So it can reach the
files of its own calls, and no others.
"""

from __future__ import annotations

import threading
from base64 import b64encode
from collections.abc import Iterable

from protocols.file_names import safe_name
from protocols.file_schemas import takes_file
from protocols.files import (
    PIECE_BYTES,
    FileInfo,
    FileMissing,
    FilePath,
    FileStore,
    FileValue,
    described_at,
    file_of_bytes,
    replaced_at,
)
from protocols.protocol import ToolProtocol
from protocols.schema import Json, JsonObject, resolve
from protocols.tool import Tool
from sandbox.arguments import BadArguments, Contract
from sandbox.file_frames import FileRead
from sandbox.limits import Limits
from sandbox.replies import encode
from sandbox.trace import ToolCall
from sandbox.wire import CallRequest, RunEnded, limit_exceeded, protocol_violation

_STAND_IN = "file"
"""A text that stands for a file while the other rules of a schema are checked."""


class ProgramFiles:
    """The files of one execution, by number. Thread-safe.

    `store` has their bytes.
    """

    def __init__(self, store: FileStore, limits: Limits) -> None:
        self._store = store
        self._limits = limits
        self._known: list[FileValue] = []
        self._sizes: dict[str, int] = {}
        self._lock = threading.Lock()

    def keep(self, files: Iterable[FileValue]) -> RunEnded | None:
        """Store the bytes of files that a tool has returned.

        If the run then has too many, they are not stored, and the result says which limit ends the
        run.
        """
        for file in files:
            sizes = {**self._sizes, file.info.sha256: file.info.size}
            if len(sizes) > self._limits.files:
                most = f"{self._limits.files:,} files"
                return limit_exceeded("files", f"the program got more than {most}")
            if sum(sizes.values()) > self._limits.file_bytes:
                most = f"{self._limits.file_bytes / 2**20:,.0f} MB"
                return limit_exceeded("file_bytes", f"the files of the run have more than {most}")
            self._store.add(file)
            self._sizes = sizes
        return None

    def hand_out(self, value: Json, paths: Iterable[FilePath]) -> tuple[tuple[FilePath, int], ...]:
        """Return the number of the file at each of the paths in a value, for the program."""
        numbers = []
        for path in paths:
            info = described_at(value, path)
            if info is not None:
                numbers.append((path, self._number_of(info)))
        return tuple(numbers)

    def _number_of(self, info: FileInfo) -> int:
        with self._lock:
            for number, known in enumerate(self._known):
                if known.info == info:
                    return number
            self._known.append(FileValue(info, self._store.content(info)))
            return len(self._known) - 1

    def get(self, number: int) -> FileValue:
        """Return the file that the program was given under a number.

        Raises:
            RunEnded: it was given no such file.
        """
        if not 0 <= number < len(self._known):
            raise protocol_violation(f"named the file {number}, which it was not given")
        return self._known[number]

    def infos(self, numbers: Iterable[int]) -> tuple[FileInfo, ...]:
        """Return what is known of the files with these numbers, each once.

        Raises:
            RunEnded: the program was given no such file.
        """
        return tuple(dict.fromkeys(self.get(number).info for number in numbers))

    def read(self, asked: FileRead) -> bytes:
        """Return the frame that answers a program which reads a part of a file.

        Raises:
            RunEnded: the program was given no such file.
        """
        file = self.get(asked.number)
        try:
            data = file.content.read(asked.start, min(asked.size, PIECE_BYTES))
        except FileMissing as missing:
            frame = {"file": asked.number, "error": f"{missing}"}
        else:
            frame = {"file": asked.number, "data": b64encode(data).decode("ascii")}
        return (encode(frame) + "\n").encode("ascii")


def large_result(tool: str, encoded: str) -> FileValue:
    """Return a file for a result that is too large for a reply, from its JSON."""
    return file_of_bytes(encoded.encode(), safe_name(f"{tool}.json"), "application/json")


def program_value(tool: Tool, made: ToolCall) -> Json:
    """Return the part of the result of a call that programs get. A file is not unwrapped."""
    return made.result if () in made.files else tool.unwrap(made.result)


def program_paths(tool: Tool, made: ToolCall) -> tuple[FilePath, ...]:
    """Return the paths of files in the part of the result of a call that programs get."""
    if () in made.files or tool.unwrap(made.result) is made.result:
        return made.files
    return tuple(path[1:] for path in made.files if path[0] == tool.wrapper)


def accept_arguments(
    terms: Contract, given: JsonObject, call: CallRequest, files: ProgramFiles
) -> dict[str, Json]:
    """Validate `given`, the arguments of a call, and return those with which the tool is called.

    Both are keyed by alias. Files among them are `FileValue`s. See `Contract.accept`.

    Raises:
        BadArguments: an argument is wrong, or a file is passed where the tool takes no file.
        RunEnded: the program names a file that it was not given.
    """
    if not call.files:
        return terms.accept(given, call.unsendable)
    held = {path: files.get(number) for path, number in call.files}
    for path in held:
        _require_takes_file(terms, path)
        given = _replace_part(given, path, _STAND_IN)
    accepted: Json = terms.accept(given, call.unsendable)
    for path, file in held.items():
        accepted = _replace_part(accepted, path, file)
    return dict(accepted)


def _require_takes_file(terms: Contract, path: FilePath) -> None:
    """Raise `BadArguments` if the argument at a path takes no file."""
    alias = str(path[0])
    protocol = terms.protocol
    if alias in terms.arguments and _takes_file_at(protocol, terms.arguments[alias], path[1:]):
        return
    raise BadArguments(
        f"argument {alias!r} takes no file; pass what it needs of the file, such as"
        " file.read_text(), file.name or file.json()"
    )


def _takes_file_at(protocol: ToolProtocol, name: str, path: FilePath) -> bool:
    """Return True if an argument, or a part of it, may be a file."""
    root: JsonObject = protocol.input_schema
    schema = resolve(protocol.parameters[name], root)
    for step in path:
        inner = schema.get("items") if isinstance(step, int) else None
        if isinstance(step, str):
            inner = (schema.get("properties") or {}).get(step)
        schema = resolve(inner, root) if inner is not None else schema
    return takes_file(schema, root)


def _replace_part(value: Json, path: FilePath, new: Json) -> Json:
    """Return a value with another one at a path.

    Raises:
        BadArguments: there is no such path.
    """
    try:
        return replaced_at(value, path, new)
    except LookupError:
        raise BadArguments("a file is passed where there is no argument") from None
