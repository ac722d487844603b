"""Document expansion: a model writes queries that a tool can answer; they are kept, and indexed with the document."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

from atc.retrieve.asking import Tally, a_text, an_object, fault, json_object, one_text
from atc.retrieve.base import Ranker
from atc.retrieve.document import ToolDocument, json_text, vector_text
from atc.retrieve.prompts import fill
from atc.retrieve.store import Store
from atc.side_by_side import SideBySide
from atc.types import Usage
from protocols.ask import Ask, Message
from protocols.errors import ModelUnavailable
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
        return an_object(dict.fromkeys(self.keys, a_text(_LONGEST, least=8)))

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
            tool = fill("expand_others", tool=tool, others="\n".join(_shown(other) for other in others))
        return [*self._opening(), Message("user", tool)]

    def _opening(self) -> list[Message]:
        tool = fill("expand_example_tool")
        if self.compares:
            tool = fill("expand_others", tool=tool, others=fill("expand_example_others"))
        return [
            Message("system", fill(f"expand_{self.name}")),
            Message("user", tool),
            Message("assistant", fill(f"expand_example_{self.name}")),
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


def names_tool(text: str, document: ToolDocument) -> bool:
    """Whether a text has a tool's name, however its words are joined (`TimePort`, `time port`), other than as a word
    that its description uses too.
    """

    def within(name: str, text: str) -> bool:
        letters = _SEPARATORS.sub("", name.casefold())
        if len(letters) < _OWN_LENGTH:
            return re.search(rf"\b{re.escape(name)}\b", text, re.IGNORECASE) is not None
        return letters in _SEPARATORS.sub("", text.casefold())

    names = filter(None, (document.name, document.title))
    return any(within(name, text) and not within(name, document.description) for name in names)


def _shown(document: ToolDocument) -> str:
    fewer = dict(list(document.parameters.items())[:_MOST_NAMES])
    returns = document.returns[:_MOST_NAMES]
    return json_text(replace(document, description=document.description[:1500], parameters=fewer, returns=returns))


QUERIES = 10
"""Synthetic queries a tool, as in Re-Invoke."""
_TEMPERATURE = 0.7
_ATTEMPTS = 4
"""Tries for one reply, each with another seed. From the second on the model does not see the tool's name."""

Near: TypeAlias = Callable[[ToolDocument], Sequence[ToolDocument]]
"""The documents that are most easily taken for one."""


def expand_all(
    documents: Sequence[ToolDocument],
    store: Store,
    ask: Ask,
    *,
    kinds: Sequence[str] = ("queries",),
    queries: int = QUERIES,
    near: Near | None = None,
    workers: int = 1,
    watch: Callable[[int, int], None] | None = None,
) -> Usage:
    """Have `ask` write what `store` lacks of `documents`; gives what that took.

    `queries` is the number of replies for the sampled kind. `near` is needed for the kind `contrast`; what was written
    against a neighbour is kept when the neighbour changes. `watch` is told how many of how many documents are done.
    A reply's seed depends on the document alone, not on the order or on other documents.

    Raises:
        ModelUnavailable: the model failed; what it has written is kept, and the next call goes on from there.
    """
    wanted = [KINDS[kind] for kind in kinds]
    if near is None and any(kind.compares for kind in wanted):
        raise ValueError("expansions of the kind 'contrast' need `near`")
    tally, stopped = Tally(ask), threading.Event()

    def write(document: ToolDocument) -> None:
        for kind in wanted:
            key = {"kind": kind.name, "prompt": kind.version, "model": tally.name}
            kept = store.samples(document, **key)
            missing = [number for number in range(queries if kind.sampled else 1) if number not in kept]
            others = near(document) if kind.compares and near is not None and missing else ()
            known = [text for texts in kept.values() for text in texts]
            for sample in missing:
                if stopped.is_set():
                    return
                texts = _reply(document, kind, tally, sample=sample, others=others, known=known)
                store.keep(document, texts, **key, sample=sample)
                known += texts

    different = list({document.digest: document for document in documents}.values())
    done = 0
    with SideBySide(workers) as pool:
        try:
            for future in as_completed([pool.submit(write, document) for document in different]):
                future.result()
                done += 1
                if watch is not None:
                    watch(done, len(different))
        except ModelUnavailable as error:
            raise ModelUnavailable(
                f"the model failed when {done} of {len(different)} tools were expanded ({error}); these are kept: run"
                " it again to go on."
            ) from error
        finally:
            stopped.set()
    return tally.usage


def neighbours(documents: Sequence[ToolDocument], ranker: Ranker, *, count: int = 3) -> Near:
    """The `count` documents that `ranker` finds nearest to a document, itself left out."""
    by_name = {document.name: document for document in documents}

    def near(document: ToolDocument) -> list[ToolDocument]:
        (found,) = ranker.top([vector_text(document)], n=count + 1)
        names = [ranker.names[position] for position in found.positions.tolist()]
        return [by_name[name] for name in names if name != document.name and name in by_name][:count]

    return near


def _reply(
    document: ToolDocument, kind: Kind, ask: Ask, *, sample: int, others: Sequence[ToolDocument], known: Sequence[str]
) -> list[str]:
    """One good text for each key of the kind; what is faulty is asked for again, a text that says the tool's name too,
    though it is taken where there is no other.
    """
    good: dict[str, str] = {}
    second_best: dict[str, str] = {}
    for attempt in range(_ATTEMPTS):
        unnamed = attempt > 0 and bool(document.description)
        key = f"{document.digest} {kind.name} {sample} {attempt}"
        completion = ask(
            kind.messages(document, others=others, unnamed=unnamed),
            schema=kind.schema,
            temperature=_TEMPERATURE,
            seed=int.from_bytes(hashlib.sha256(key.encode()).digest()[:4]) >> 1,
            max_tokens=kind.max_tokens,
        )
        reply = json_object(completion.text)
        for key in kind.keys:
            text = one_text(reply.get(key))
            if key in good or fault(text, given=[*known, *good.values(), document.description]) is not None:
                continue
            if names_tool(text, document) and not unnamed:
                second_best.setdefault(key, text)
            else:  # who has not seen the name and says it used a common word
                good[key] = text
        if len(good) == len(kind.keys):
            break
    texts = {**second_best, **good}
    return [texts[key] for key in kind.keys if key in texts]
