"""Files among the arguments of a call, as far as their content decides about consent.

A tool may read recipients and amounts in a file as well as in a text. So the text of a file is
judged like a text. A picture or a document for people is no such list. Any other content cannot be
read here, and counts as opaque.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from atc.core.json_paths import JsonPath
from atc.core.quoting import quote_name
from protocols.file_names import SHOWN_IMAGES, sniffed_type
from protocols.files import FileInfo, FileValue, described_at, files_in
from protocols.schema import Json, JsonObject
from sandbox.trace import ToolCall

_MOST_READ = 200_000  # bytes; a longer text is too large to be judged anyway
_FOR_PEOPLE = (*SHOWN_IMAGES, "application/pdf")


@dataclass(frozen=True, slots=True)
class PassedFile:
    """A file that a program passes to a tool."""

    argument: str
    """The original name of the argument."""
    path: JsonPath
    """The steps to the file in the argument."""
    file: FileValue

    @property
    def label(self) -> str:
        """The file as a person is asked about it. Another content has another label."""
        return f"{self.file.info}, SHA-256 {self.file.info.sha256[:16]}"

    @property
    def text(self) -> str | None:
        """The beginning of the file as text, or None if the file is not text."""
        beginning = self.file.content.read(0, _MOST_READ)
        try:
            text = beginning.decode("utf-8-sig", "strict" if self._is_short else "ignore")
        except ValueError:
            return None
        return None if "\0" in text else text

    @property
    def _is_short(self) -> bool:
        return self.file.info.size <= _MOST_READ

    @property
    def is_for_people(self) -> bool:
        """True for pictures, sound, films and PDF documents, by their first bytes or their type."""
        media = self.file.info.media_type
        found = sniffed_type(self.file.content.read(0, 16))
        return found in _FOR_PEOPLE or media.startswith(("audio/", "video/"))


def without_files(arguments: JsonObject) -> dict[str, Json]:
    """Return the arguments of a call in which None stands for each file."""
    return {name: _without(value) for name, value in arguments.items()}


def _without(value: Json) -> Json:
    if isinstance(value, FileValue):
        return None
    if isinstance(value, dict):
        return {key: _without(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without(item) for item in value]
    return value


def iter_passed_files(arguments: JsonObject) -> Iterator[PassedFile]:
    """Yield the files in the arguments of a call."""
    for name, value in arguments.items():
        for path, file in files_in(value).items():
            yield PassedFile(name, path, file)


def calls_that_returned(info: FileInfo, calls: Sequence[ToolCall]) -> list[ToolCall]:
    """Return the calls that returned a file with this content, the latest one first."""
    return [
        call
        for call in reversed(calls)
        for path in call.files
        if (found := described_at(call.result, path)) and found.sha256 == info.sha256
    ]


def describe_origin(calls: Sequence[ToolCall]) -> str:
    """Return where a file came from, as the end of a sentence."""
    if not calls:
        return "no call of this run has returned it"
    return f"it is the file that {quote_name(calls[0].tool)} returned, whatever it contains"
