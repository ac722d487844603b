"""Samples: one call that probing made each, and the log that keeps them so that none is made twice.

Everything that probing knows is a function of the log; killed at any moment, it goes on from there. The log holds
values as they came, secrets among them: only its owner can read it, and it lies in a folder that git leaves out.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any, Literal

from protocols.errors import AtcError, Outcome
from protocols.private_files import keep_private, private_folder, write_error, write_whole
from protocols.schema import Json, JsonObject

FOLDER = ".probe"
"""Beside the protocols."""
SOURCE = "source"
"""Note of a log: what is probed."""

OriginKind = Literal["given", "enum", "response", "error", "model", "generated"]
"""Where a value came from: the tool's own description, its enum, another response, an error reply that quoted it, a
model, a typed generator."""

Purpose = Literal["discover", "omit", "vary", "refuse", "link", "effect", "check"]
"""What a call was to find out: whether the tool can be called, whether it can be called without an argument, what other
values give, what a wrong value gives, whether a link holds, what a write changed, whether the tool still
is what its protocol says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeSettings:
    """Limits of one probing. `budget` and `per_tool` count calls sent, over all times the same folder was probed."""

    budget: int | None = None
    """Calls in all; None: `per_tool` for each tool."""
    per_tool: int = 15
    rounds: int = 3
    """Chain rounds after the first round, in which each tool is probed alone (the paper's β)."""
    allow_writes: bool | frozenset[str] = False
    """Whether tools that are not known to be read-only may be called: all, or those of these names."""
    requests_per_second: float | None = 10.0
    """To one host; None: no limit."""
    timeout_seconds: float = 20.0
    """For one call."""

    def allows(self, tool: str) -> bool:
        """Whether a tool that may change something may be called."""
        return (
            self.allow_writes if isinstance(self.allow_writes, bool) else tool in self.allow_writes
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueOrigin:
    """Where a value came from. Of a response, `tool`, `path` (`airports[].code`) and the sample's number say which."""

    kind: OriginKind
    tool: str = ""
    path: str = ""
    sample: int = 0


@dataclass(frozen=True, slots=True)
class Value:
    """An argument's value and where it came from."""

    value: Json
    origin: ValueOrigin

    @property
    def is_generated(self) -> bool:
        """Whether probing invented it."""
        return self.origin.kind == "generated"


GENERATED_ORIGIN = ValueOrigin(kind="generated")
ArgumentValues = Mapping[str, Value]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One call and its answer.

    `number` counts calls from 1 in the order in which they were sent, over all tools. `tool` and the names in
    `arguments` are the source's own.
    """

    number: int
    tool: str
    arguments: ArgumentValues = field(default_factory=dict)
    purpose: Purpose = "discover"
    outcome: Outcome = "done"
    status: int | None = None
    """HTTP's, of an answer that is no success; None for a success and where there was no answer."""
    response: Json = None
    """The whole response of a call that is done."""
    error: str = ""
    """Why there is no response, on one line."""
    answer: str | None = None
    """The whole text of an answer that is no success, where there was one."""

    @property
    def done(self) -> bool:
        """Whether the tool answered with a success."""
        return self.outcome == "done"

    @property
    def plain_arguments(self) -> dict[str, Json]:
        """The arguments' values alone."""
        return {name: given.value for name, given in self.arguments.items()}


Watch = Callable[["Sample | str"], None]
"""Takes each call that came back and was not in the log before, and sentences that the person should know."""


def call_key(tool: str, arguments: JsonObject) -> str:
    """The same for two calls of one tool with equal arguments; `1`, `1.0` and `true` differ."""
    return f"{tool} {json.dumps(arguments, sort_keys=True, ensure_ascii=False)}"


def to_line(sample: Sample) -> str:
    """The sample as one line of JSON. `from_line(to_line(s)) == s`."""
    return json.dumps(asdict(sample), ensure_ascii=False, separators=(",", ":"))


def from_line(line: str) -> Sample:
    """Read one line. Raises what reading JSON of another shape raises."""
    record = json.loads(line)
    given = record.pop("arguments")
    arguments = {
        name: Value(held["value"], ValueOrigin(**held["origin"])) for name, held in given.items()
    }
    return Sample(arguments=arguments, **record)


class LogUnreadable(AtcError):
    """The log of an earlier probing cannot be used; the message says what to do."""


class Log(AbstractContextManager["Log"]):
    """The samples so far, in the order in which they were sent, and the model's replies.

    `intents` are calls that were sent, or may have been, and never answered: a kill came between. They are not made
    again, and stand in the report. `notes` are JSON values by name, a model's replies among them.
    """

    def __init__(self, folder: Path) -> None:
        """`folder` is that of the protocols.

        Raises:
            LogUnreadable: another process writes it now, or a line that is not the last cannot be read.
            CannotWrite: it cannot be opened for writing.
        """
        self.samples: list[Sample] = []
        self.intents: dict[int, JsonObject] = {}
        self.notes: dict[str, Any] = {}
        self._answered: dict[str, Sample] = {}
        self._of: defaultdict[str, list[Sample]] = defaultdict(list)
        self._void: Counter[str] = Counter()
        self.next_number = 1  # of the call that is sent next
        path = folder / FOLDER / "samples.jsonl"
        self._file = _open_log(path)
        try:
            _lock(self._file, path)
            self._read(path)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file; the samples can still be read."""
        self._file.close()

    def __exit__(self, *_: object) -> None:
        self.close()

    def intend(self, tool: str, arguments: JsonObject, *, number: int) -> None:
        """Record that a call is about to be sent. On disk when this returns."""
        self._record({"intent": [tool, dict(arguments), number]})

    def add(self, sample: Sample) -> None:
        """Record what came back."""
        self._take(sample)
        self._write_line(to_line(sample))

    def void(self, number: int, *, sent: bool = True) -> None:
        """Record that call `number` taught nothing of its tool, and may be made again. `sent`: it counts anyway."""
        self._record({"void": [number, sent]})

    def note(self, key: str, value: Any) -> None:
        """Keep a JSON value under `key`."""
        self._record({"note": [key, value]})

    def find(self, tool: str, arguments: JsonObject) -> Sample | None:
        """The sample of a call that was made before."""
        return self._answered.get(call_key(tool, arguments))

    def was_intended(self, tool: str, arguments: JsonObject) -> bool:
        """Whether this call was about to be sent when an earlier probing was killed."""
        return call_key(tool, arguments) in {
            call_key(one["tool"], one["arguments"]) for one in self.intents.values()
        }

    def samples_of(self, tool: str) -> Iterator[Sample]:
        """The samples of one tool."""
        return iter(self._of[tool])

    @property
    def sent_count(self) -> int:
        """Calls that were sent, or may have been."""
        return len(self.samples) + len(self.intents) + self._void.total()

    def count_sent_to(self, tool: str) -> int:
        """Calls of one tool that were sent, or may have been."""
        intended: int = sum(intent["tool"] == tool for intent in self.intents.values())
        return len(self._of[tool]) + intended + self._void[tool]

    def _take(self, sample: Sample) -> None:
        self.intents.pop(sample.number, None)
        self._answered[call_key(sample.tool, sample.plain_arguments)] = sample
        self.samples.append(sample)
        self._of[sample.tool].append(sample)
        self.next_number = max(self.next_number, sample.number + 1)

    def _apply(self, record: Mapping[str, Any]) -> None:
        if "intent" in record:
            tool, arguments, number = record["intent"]
            self.intents[number] = {"tool": tool, "arguments": arguments, "number": number}
            self.next_number = max(self.next_number, number + 1)
        elif "void" in record:
            number, sent = record["void"]
            voided = [str(intent["tool"])] if (intent := self.intents.pop(number, None)) else []
            for sample in [sample for sample in self.samples if sample.number == number]:
                self.samples.remove(sample)
                self._of[sample.tool].remove(sample)
                self._answered.pop(call_key(sample.tool, sample.plain_arguments), None)
                voided.append(sample.tool)
            self._void.update(voided if sent else ())
        else:
            key, value = record["note"]
            self.notes[key] = value

    def _record(self, record: dict[str, Any]) -> None:
        self._apply(record)
        self._write_line(json.dumps(record, ensure_ascii=False, separators=(",", ":")))

    def _write_line(self, line: str) -> None:
        self._file.write(line.encode("utf-8", "replace") + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def _read(self, path: Path) -> None:
        self._file.seek(0)
        content = self._file.read()
        *lines, rest = content.split(b"\n")
        if rest:  # a kill cut the last line: what it was to say is not known
            self._file.truncate(len(content) - len(rest))
        for number, line in enumerate(lines, start=1):
            try:
                record = json.loads(text := line.decode())
                if record.keys() & {"intent", "void", "note"}:
                    self._apply(record)
                else:
                    self._take(from_line(text))
            except (AttributeError, KeyError, ValueError, TypeError, RecursionError) as error:
                raise LogUnreadable(
                    f"{str(path)!r}, line {number}, cannot be read ({error}); "
                    f"remove {str(path.parent)!r} to probe anew."
                ) from None


def _open_log(path: Path) -> IO[bytes]:
    """The file of a log, below the folder of the protocols. Raises `CannotWrite`."""
    try:
        private_folder(path.parent, anywhere=True)  # protocols may be shared; the log is not
        write_whole(path.parent / ".gitignore", "*\n")
        keep_private(path)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise write_error(path, error) from error
    return os.fdopen(descriptor, "a+b")


def _lock(file: IO[bytes], path: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise LogUnreadable(
            f"{str(path.parent.parent)!r} is being probed by another process; wait for it, or give another folder."
        ) from None
