"""Document expansion: a model writes queries that a tool can answer; they are kept, and indexed with the document."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

from atc.core.parallel import Pool, Threads
from atc.core.types import Usage
from atc.pipeline.retrieve.document import ToolDocument, json_text
from atc.pipeline.retrieve.document_store import DocumentStore
from atc.pipeline.retrieve.model_replies import (
    Tally,
    a_text,
    an_object,
    find_text_fault,
    json_object,
    one_text,
)
from atc.pipeline.retrieve.prompts import fill
from protocols.errors import ModelUnavailable
from protocols.model import Ask, Message
from protocols.schema import JsonObject

_LONGEST = 400
"""Characters of one text; a longer one has begun to repeat itself."""
_MOST_NAMES = 15
"""Parameters, and fields of the response, that the model is shown: more of them push out what the tool is for."""


@dataclass(frozen=True)
class ExpansionKind:
    """A prompt of this package and the `keys` of the JSON object that answers it, each a text.

    With `sampled`, as many replies are drawn as are wanted; else one reply holds all.
    """

    name: str
    keys: tuple[str, ...]
    max_tokens: int
    sampled: bool = False
    fill: Callable[..., str] = fill
    """Gives the prompts `expand_NAME` and `expand_example_NAME`."""

    @cached_property
    def schema(self) -> JsonObject:
        """What a reply must look like."""
        return an_object(dict.fromkeys(self.keys, a_text(_LONGEST, least=8)))

    @cached_property
    def version(self) -> str:
        """Changes with the prompt, its example or the schema: what was written under another one is written again."""
        said = [message.content for message in self.build_prefix()] + [json.dumps(self.schema)]
        return hashlib.sha256("\0".join(said).encode()).hexdigest()[:12]

    def messages(self, document: ToolDocument) -> list[Message]:
        """The prompt for a document."""
        return [*self.build_prefix(), Message("user", render_document(document))]

    def build_prefix(self, tool: str = "") -> list[Message]:
        """What each prompt begins with: the instructions, and an example (`tool` in place of its own)."""
        return [
            Message("system", self.fill(f"expand_{self.name}")),
            Message("user", tool or fill("expand_example_tool")),
            Message("assistant", self.fill(f"expand_example_{self.name}")),
        ]


SYNTHETIC = ExpansionKind("queries", ("query",), max_tokens=160, sampled=True)
"""Re-Invoke's synthetic queries, one a reply."""


def render_document(document: ToolDocument) -> str:
    """A document as the model is shown it."""
    fewer = dict(list(document.parameters.items())[:_MOST_NAMES])
    returns = document.returns[:_MOST_NAMES]
    return json_text(
        replace(
            document, description=document.description[:1500], parameters=fewer, returns=returns
        )
    )


QUERIES = 10
"""Synthetic queries a tool, as in Re-Invoke."""
_TEMPERATURE = 0.7
_ATTEMPTS = 4
"""Tries for one reply, each with another seed."""


def expand_all(
    documents: Sequence[ToolDocument],
    store: DocumentStore,
    open_ask: Callable[[], Ask],
    *,
    kind: ExpansionKind = SYNTHETIC,
    queries: int = QUERIES,
    pool: Pool = Threads(),  # noqa: B008 - frozen
    watch: Callable[[int, int], None] | None = None,
) -> Usage:
    """Have a model write what `store` lacks of `documents`; gives what that took. Each process asks its own.

    `queries` is the number of replies, where the kind is sampled. `pool` says where the model is asked, a document at
    a time. `watch` is told how many of how many documents are done.
    A reply's seed depends on the document alone, not on the order or on other documents.

    Raises:
        ModelUnavailable: the model failed; what it has written is kept, and the next call goes on from there.
    """
    different = list({document.digest: document for document in documents}.values())
    key = {"kind": kind.name, "prompt": kind.version, "model": open_ask().name}
    stopped: list[
        ModelUnavailable
    ] = []  # threads see what comes into it; a worker elsewhere has a copy, and few items

    @contextmanager
    def open_writer() -> Iterator[Callable[[_ExpansionJob], _ExpansionResult]]:
        yield lambda one: _write_texts(one, kind, open_ask(), stopped)

    def build_job(document: ToolDocument) -> _ExpansionJob:
        kept = store.samples(document, **key)
        numbers = [number for number in range(queries if kind.sampled else 1) if number not in kept]
        return document, numbers, [text for texts in kept.values() for text in texts]

    usage = Usage()
    done = 0
    for document, replies, took, failure in pool(
        open_writer, (build_job(one) for one in different if not stopped)
    ):
        for sample, texts in replies.items():
            store.keep(document, texts, **key, sample=sample)
        usage += took
        if failure is not None:
            stopped.append(failure)
            continue
        done += 1
        if watch is not None:
            watch(done, len(different))
    if stopped:
        raise ModelUnavailable(
            f"the model failed when {done} of {len(different)} tools were expanded ({stopped[0]}); these are kept: run"
            " it again to go on."
        ) from stopped[0]
    return usage


_ExpansionJob: TypeAlias = tuple[ToolDocument, Sequence[int], Sequence[str]]
"""A document, the numbers of the replies that it lacks, and the texts that it has."""
_ExpansionResult: TypeAlias = tuple[
    ToolDocument, Mapping[int, Sequence[str]], Usage, ModelUnavailable | None
]
"""A document, the texts of each reply by its number, what they took, and why there are no more."""


def _write_texts(
    wanted: _ExpansionJob, kind: ExpansionKind, ask: Ask, stopped: Sequence[object]
) -> _ExpansionResult:
    """What `ask` writes about one document, until it fails or another did."""
    document, numbers, given = wanted
    tally = Tally(ask)
    known = list(given)
    replies = dict[int, Sequence[str]]()
    try:
        for number in numbers:
            if stopped:
                break
            replies[number] = _reply(document, kind, tally, sample=number, known=known)
            known += replies[number]
    except ModelUnavailable as error:
        return document, replies, tally.usage, error
    return document, replies, tally.usage, None


def _reply(
    document: ToolDocument, kind: ExpansionKind, ask: Ask, *, sample: int, known: Sequence[str]
) -> list[str]:
    """One good text for each key of the kind; what is faulty is asked for again."""
    good: dict[str, str] = {}
    for attempt in range(_ATTEMPTS):
        seed = f"{document.digest} {kind.name} {sample} {attempt}"
        completion = ask(
            kind.messages(document),
            schema=kind.schema,
            temperature=_TEMPERATURE,
            seed=int.from_bytes(hashlib.sha256(seed.encode()).digest()[:4]) >> 1,
            max_tokens=kind.max_tokens,
        )
        reply = json_object(completion.text)
        for key in kind.keys:
            text = one_text(reply.get(key))
            if (
                key not in good
                and find_text_fault(text, given=[*known, *good.values(), document.description])
                is None
            ):
                good[key] = text
        if len(good) == len(kind.keys):
            break
    return [good[key] for key in kind.keys if key in good]
