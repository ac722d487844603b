"""The log of a probing: every call, written before it is sent and after it came back, so that none is made twice.

Everything that probing knows is a function of this log; killed at any moment, it goes on from here. It holds values as
they came, secrets among them: the file is readable by its owner alone, and lies in a folder that git leaves out.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from probing.sample import Sample, call_key, from_line, to_line
from protocols.errors import AtcError
from protocols.files import cannot_write, keep_private, private_folder, write_whole
from protocols.jsontypes import JsonObject

FOLDER = ".probe"
"""Beside the protocols."""


class LogUnreadable(AtcError):
    """The log of an earlier probing cannot be used; the message says what to do."""


class Log:
    """The samples so far, in the order in which they were sent, and the model's replies.

    `intents` are calls that were sent, or may have been, and never answered: a kill came between. They are not made
    again, and stand in the report.
    """

    def __init__(self, folder: Path) -> None:
        """`folder` is that of the protocols; the log lies in a folder below it.

        Raises:
            LogUnreadable: another process writes it now, or a line that is not the last cannot be read.
            CannotWrite: it cannot be opened for writing.
        """
        self.samples: list[Sample] = []
        self.intents: dict[str, JsonObject] = {}
        self.notes: dict[str, Any] = {}
        self._answered: dict[str, Sample] = {}
        self._void: dict[str, int] = {}
        self._last = 0
        path = folder / FOLDER / "samples.jsonl"
        try:
            private_folder(path.parent)
            write_whole(path.parent / ".gitignore", "*\n")
            keep_private(path)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise cannot_write(path, error) from error
        self._file: IO[str] = os.fdopen(descriptor, "a+", encoding="utf-8", newline="\n")
        try:
            _lock(self._file, path)
            self._read(path)
        except BaseException:
            self._file.close()
            raise

    def close(self) -> None:
        """Close the file; the samples can still be read."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def intend(self, tool: str, arguments: JsonObject, *, number: int) -> None:
        """Record that a call is about to be sent. On disk when this returns."""
        self._intend(tool, arguments, number)
        self._write({"intent": [tool, dict(arguments), number]})

    def add(self, sample: Sample) -> None:
        """Record what came back."""
        self._take(sample)
        self._write_line(to_line(sample))

    def void(self, number: int, *, sent: bool = True) -> None:
        """Record that call `number` came to nothing: it taught nothing of its tool, and may be made again.

        So it is with an answer that asks to come again later. `sent`: it counts as a call all the same.
        """
        self._drop(number, sent=sent)
        self._write({"void": [number, sent]})

    def note(self, key: str, value: Any) -> None:
        """Keep a JSON value under `key`: a model's reply, by what it was asked."""
        self.notes[key] = value
        self._write({"note": [key, value]})

    def find(self, tool: str, arguments: JsonObject) -> Sample | None:
        """The sample of a call that was made before."""
        return self._answered.get(call_key(tool, arguments))

    def intended(self, tool: str, arguments: JsonObject) -> bool:
        """Whether this call was about to be sent when an earlier probing was killed."""
        return call_key(tool, arguments) in self.intents

    def of(self, tool: str) -> Iterator[Sample]:
        """The samples of one tool."""
        return (sample for sample in self.samples if sample.tool == tool)

    @property
    def sent(self) -> int:
        """Calls that were sent, or may have been."""
        ours = sum(sample.purpose != "recorded" for sample in self.samples)
        return ours + len(self.intents) + sum(self._void.values())

    def sent_to(self, tool: str) -> int:
        """Calls of one tool that were sent, or may have been."""
        intended = sum(1 for intent in self.intents.values() if intent["tool"] == tool)
        ours = sum(sample.purpose != "recorded" for sample in self.of(tool))
        return ours + intended + self._void.get(tool, 0)

    @property
    def next_number(self) -> int:
        """The number of the call that is sent next."""
        return self._last + 1

    def _take(self, sample: Sample) -> None:
        key = call_key(sample.tool, sample.plain)
        self.intents.pop(key, None)
        self._answered[key] = sample
        self.samples.append(sample)
        self._last = max(self._last, sample.number)

    def _intend(self, tool: str, arguments: JsonObject, number: int) -> None:
        self.intents[call_key(tool, arguments)] = {"tool": tool, "arguments": dict(arguments), "number": number}
        self._last = max(self._last, number)

    def _drop(self, number: int, *, sent: bool) -> None:
        dropped = [str(intent["tool"]) for intent in self.intents.values() if intent["number"] == number]
        self.intents = {key: intent for key, intent in self.intents.items() if intent["number"] != number}
        for sample in [sample for sample in self.samples if sample.number == number]:
            self.samples.remove(sample)
            self._answered.pop(call_key(sample.tool, sample.plain), None)
            dropped.append(sample.tool)
        for tool in dropped if sent else ():
            self._void[tool] = self._void.get(tool, 0) + 1

    def _write(self, record: dict[str, Any]) -> None:
        self._write_line(json.dumps(record, ensure_ascii=False, separators=(",", ":")))

    def _write_line(self, line: str) -> None:
        self._file.write(line.encode("utf-8", "replace").decode() + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def _read(self, path: Path) -> None:
        self._file.seek(0)
        text = self._file.read()
        lines = text.split("\n")
        if lines.pop():  # a kill cut the last line: what it was to say is not known, its intent stands before it
            self._file.truncate(len(text[: text.rfind("\n") + 1].encode()))
        for number, line in enumerate(lines, start=1):
            try:
                self._replay(line)
            except ValueError as error:
                raise LogUnreadable(
                    f"{str(path)!r}, line {number}, cannot be read ({error}); "
                    f"remove {str(path.parent)!r} to probe anew."
                ) from None

    def _replay(self, line: str) -> None:
        record = json.loads(line)
        if not isinstance(record, dict):
            raise ValueError("not an object")  # noqa: TRY004 - one kind of error for every bad line
        if "intent" in record:
            tool, arguments, number = record["intent"]
            self._intend(tool, arguments, number)
        elif "void" in record:
            number, sent = record["void"]
            self._drop(number, sent=sent)
        elif "note" in record:
            key, value = record["note"]
            self.notes[key] = value
        else:
            self._take(from_line(line))


def _lock(file: IO[str], path: Path) -> None:
    try:
        import fcntl
    except ImportError:  # not there on Windows, where two probings of one folder are not told apart
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise LogUnreadable(
            f"{str(path.parent.parent)!r} is being probed by another process; wait for it, or give another folder."
        ) from None
