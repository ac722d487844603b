"""The kinds of expansion: what the model is asked for, and how its reply is read."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from atc.retrieve.document import ToolDocument, json_text
from atc.retrieve.expand.prompts import fill
from atc.retrieve.replies import json_object, one_text
from protocols.ask import Message
from protocols.jsontypes import JsonObject

_LONGEST = 400
"""Characters of one text; a longer one has begun to repeat itself."""
_MOST_NAMES = 15
"""Parameters, and fields of the response, that the model is shown: more of them push out what the tool is for."""

_OWN_LENGTH = 6
"""Letters from which on a name is not found within other words by chance."""
_SEPARATORS = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class Kind:
    """A prompt of this package and the `keys` of the JSON object that answers it, each a text.

    With `sampled`, as many replies are drawn as are wanted; else one reply holds all.
    """

    name: str
    keys: tuple[str, ...]
    max_tokens: int
    sampled: bool = False
    compares: bool = False
    """Whether the model is shown the tool's nearest neighbours too."""

    @cached_property
    def schema(self) -> JsonObject:
        """What a reply must look like."""
        text: JsonObject = {"type": "string", "minLength": 8, "maxLength": _LONGEST}
        return {
            "type": "object",
            "properties": dict.fromkeys(self.keys, text),
            "required": list(self.keys),
            "additionalProperties": False,
        }

    @cached_property
    def version(self) -> str:
        """Changes with the prompt, its example or the schema: what was written under another one is written again."""
        said = [message.content for message in self._opening()] + [json.dumps(self.schema)]
        return hashlib.sha256("\0".join(said).encode()).hexdigest()[:12]

    def messages(
        self, document: ToolDocument, *, others: Sequence[ToolDocument] = (), unnamed: bool = False
    ) -> list[Message]:
        """The prompt for a document; `unnamed` leaves out its name, for a model that cannot help saying it."""
        tool = _shown(replace(document, name="", title="") if unnamed else document)
        if self.compares:
            tool = fill("others", tool=tool, others="\n".join(_shown(other) for other in others))
        return [*self._opening(), Message("user", tool)]

    def _opening(self) -> list[Message]:
        tool = fill("example_tool")
        if self.compares:
            tool = fill("others", tool=tool, others=fill("example_others"))
        return [
            Message("system", fill(self.name)),
            Message("user", tool),
            Message("assistant", fill(f"example_{self.name}")),
        ]


KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("queries", ("query",), max_tokens=160, sampled=True),
        Kind(
            "facets",
            ("question", "command", "situation", "problem", "detailed", "beginner", "keywords"),
            max_tokens=700,
        ),
        Kind("contrast", ("only", "first", "second", "third"), max_tokens=400, compares=True),
    )
}
"""`queries` are Re-Invoke's synthetic queries, one a reply; `facets` are seven messages of fixed sorts; `contrast` is
written against the tool's nearest neighbours and says what only this tool does."""


def read_texts(reply: str) -> dict[str, str]:
    """The texts of a reply by key; empty where it is not a JSON object."""
    return {key: one_text(text) for key, text in json_object(reply).items() if isinstance(text, str)}


def names_tool(text: str, document: ToolDocument) -> bool:
    """Whether a text says a tool's name, other than as a word that its description uses too."""
    return any(
        _says(text, name) and not _says(document.description, name) for name in (document.name, document.title) if name
    )


def _says(text: str, name: str) -> bool:
    """Whether a name stands in a text, however its words are joined: `timeport`, `TimePort`, `time port`."""
    letters = _SEPARATORS.sub("", name.casefold())
    if len(letters) < _OWN_LENGTH:
        return re.search(rf"\b{re.escape(name)}\b", text, re.IGNORECASE) is not None
    return letters in _SEPARATORS.sub("", text.casefold())


def _shown(document: ToolDocument) -> str:
    fewer = dict(list(document.parameters.items())[:_MOST_NAMES])
    return json_text(
        replace(
            document,
            description=document.description[:1500],
            parameters=fewer,
            returns=document.returns[:_MOST_NAMES],
        )
    )
