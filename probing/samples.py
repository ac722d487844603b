"""Samples, that is, calls with their answers, and the log that stores them.

Everything that a probing run knows is derived from its log, so a killed run continues where it
stopped, and no call is made twice. The log contains values as they were returned, secrets included.
Only its owner can read it, and git ignores its folder.
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
"""Name of the folder that contains the log, inside the folder of the protocols."""
SOURCE = "source"
"""Key of the note in the log that contains the probed source of tools."""

OriginKind = Literal["given", "enum", "response", "error", "model", "generated"]
"""Where the value of an argument comes from.

- `given`: examples and defaults in the tool's description.
- `enum`: the allowed values in its schema.
- `response`: the response of a call.
- `error`: the allowed values in an error reply.
- `model`: a language model proposed it.
- `generated`: probing invented it."""

Purpose = Literal["discover", "omit", "vary", "refuse", "link", "effect", "check"]
"""Purpose of a call.

- `discover`: find out whether the tool can be called.
- `omit`: find out whether it can be called without an argument.
- `vary`: see what the tool returns for other values.
- `refuse`: see how the tool refuses a wrong value.
- `link`: test whether the tool accepts values that another tool returned.
- `effect`: change something, or see what such a call changed.
- `check`: see whether the tool still matches its protocol."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeSettings:
    """Limits of one probing run.

    Calls of earlier runs with the same folder count against `budget` and `per_tool`.
    """

    budget: int | None = None
    """Maximum number of calls of all tools together. None: only `per_tool` applies."""
    per_tool: int = 15
    """Maximum number of calls of one tool."""
    rounds: int = 3
    """Number of rounds in which tools get values that other tools returned (β in the ATC paper).

    A first round without such values is not counted."""
    allow_writes: bool | frozenset[str] = False
    """The tools that may be called although they may change something: their names, or True for
    all. False: only tools that are known to be read-only are called."""
    requests_per_second: float | None = 10.0
    """Maximum number of requests per second to one host. None: no limit."""
    timeout_seconds: float = 20.0
    """Time limit of one call, in seconds."""

    def allows(self, tool: str) -> bool:
        """Return True if a tool may be called even though it may change something."""
        return (
            self.allow_writes if isinstance(self.allow_writes, bool) else tool in self.allow_writes
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueOrigin:
    """The origin of a value. If `kind` is not `response`, the other fields are not set."""

    kind: OriginKind
    tool: str = ""
    """The tool whose response contained the value."""
    path: str = ""
    """The path of the value in the response: `airports[].code`."""
    sample: int = 0
    """The number of the sample with the response."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value of an argument, together with its origin (where the value comes from)."""

    value: Json
    origin: ValueOrigin

    @property
    def is_generated(self) -> bool:
        """True if probing invented the value."""
        return self.origin.kind == "generated"


GENERATED_ORIGIN = ValueOrigin(kind="generated")
ArgumentValues = Mapping[str, Value]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One call and its answer.

    The tool and its arguments have the names that their source uses, such as an OpenAPI document.
    """

    number: int
    """Position of the call in the order in which all calls were sent, starting with 1."""
    tool: str
    arguments: ArgumentValues = field(default_factory=dict)
    purpose: Purpose = "discover"
    outcome: Outcome = "done"
    status: int | None = None
    """HTTP status of an error reply; None after a success or without an answer."""
    response: Json = None
    """The whole response of a successful call."""
    error: str = ""
    """Why there is no response, on one line; "" after a success."""
    answer: str | None = None
    """The whole text of the error reply; None if there was none."""

    @property
    def done(self) -> bool:
        """True if the tool answered with a success."""
        return self.outcome == "done"

    @property
    def plain_arguments(self) -> dict[str, Json]:
        """The values of the arguments, keyed by name. Where a value comes from is left out."""
        return {name: given.value for name, given in self.arguments.items()}


Watch = Callable[["Sample | str"], None]
"""A function that is called with each new sample, and with messages for the user."""


def call_key(tool: str, arguments: JsonObject) -> str:
    """Return a key that two calls share if they call the same tool with equal arguments.

    `1`, `1.0` and `true` give different keys.
    """
    return f"{tool} {json.dumps(arguments, sort_keys=True, ensure_ascii=False)}"


def to_line(sample: Sample) -> str:
    """Return a sample (a call with its answer) as one line of JSON, which `from_line` reads."""
    return json.dumps(asdict(sample), ensure_ascii=False, separators=(",", ":"))


def from_line(line: str) -> Sample:
    """Return the sample (a call with its answer) that `to_line` wrote as a line of JSON.

    Raises:
        ValueError, TypeError, KeyError, AttributeError: the line does not contain a sample.
    """
    record = json.loads(line)
    given = record.pop("arguments")
    arguments = {
        name: Value(one["value"], ValueOrigin(**one["origin"])) for name, one in given.items()
    }
    return Sample(arguments=arguments, **record)


class LogUnreadable(AtcError):
    """Raised if the log of an earlier probing cannot be used. The message says what to do."""


class Log(AbstractContextManager["Log"]):
    """The file with all samples and notes of a probing run. Each change is written at once.

    - `samples`: the samples (calls with their answers) in the order in which they were added.
    - `intents`: calls that may have been sent but were never answered, because the process was
      killed, keyed by their number. They are not made again, and the report names them.
    - `notes`: JSON values that were stored under a key, such as the replies of a model.
    """

    def __init__(self, folder: Path) -> None:
        """Open or create the log in `folder`, the folder of the protocols.

        Raises:
            LogUnreadable: another process uses the log, or a line other than the last is damaged.
            CannotWrite: the log cannot be opened for writing.
        """
        self.samples: list[Sample] = []
        self.intents: dict[int, JsonObject] = {}
        self.notes: dict[str, Any] = {}
        self._answered: dict[str, Sample] = {}
        self._of: defaultdict[str, list[Sample]] = defaultdict(list)
        self._void: Counter[str] = Counter()
        self.next_number = 1  # number of the next call
        path = folder / FOLDER / "samples.jsonl"
        self._file = _open_log(path)
        try:
            _lock(self._file, path)
            self._read(path)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file. `samples` and `notes` can still be read."""
        self._file.close()

    def __exit__(self, *_: object) -> None:
        self.close()

    def intend(self, tool: str, arguments: JsonObject, *, number: int) -> None:
        """Record that a call is about to be sent. The record is on disk when this returns."""
        self._record({"intent": [tool, dict(arguments), number]})

    def add(self, sample: Sample) -> None:
        """Write the sample (the call with its answer) of an answered call to the log."""
        self._take(sample)
        self._write_line(to_line(sample))

    def void(self, number: int, *, sent: bool = True) -> None:
        """Discard call `number`: it showed nothing about its tool and may be made again.

        If `sent` is True, the call still counts against the limits.
        """
        self._record({"void": [number, sent]})

    def note(self, key: str, value: Any) -> None:
        """Store a JSON value under a key in the log's `notes`. An earlier value is replaced."""
        self._record({"note": [key, value]})

    def find(self, tool: str, arguments: JsonObject) -> Sample | None:
        """Return the sample of an earlier call with the same tool and arguments, or None."""
        return self._answered.get(call_key(tool, arguments))

    def was_intended(self, tool: str, arguments: JsonObject) -> bool:
        """Return True if an equal call was about to be sent when an earlier process was killed.

        It may have been sent.
        """
        return call_key(tool, arguments) in {
            call_key(one["tool"], one["arguments"]) for one in self.intents.values()
        }

    def samples_of(self, tool: str) -> Iterator[Sample]:
        """Iterate over the samples, that is, the calls with their answers, of one tool."""
        return iter(self._of[tool])

    @property
    def sent_count(self) -> int:
        """Number of calls that were, or may have been, sent."""
        return len(self.samples) + len(self.intents) + self._void.total()

    def count_sent_to(self, tool: str) -> int:
        """Return how many calls of one tool were, or may have been, sent."""
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
        if rest:  # a kill cut the last line off
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
    """Open the file of a log for reading and appending. Create its private folder if necessary.

    Raises:
        CannotWrite: the file cannot be opened for writing.
    """
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
            f"{str(path.parent.parent)!r} is being probed by another process; "
            "wait for it, or give another folder."
        ) from None
