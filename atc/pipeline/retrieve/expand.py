"""Document expansion: a model writes queries that a tool can answer.

These synthetic queries are stored and indexed with the tool's document, so that a user's query
finds the tool more often.
"""

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
"""Maximum length of one text in characters. A longer text has begun to repeat itself."""
_MOST_NAMES = 15
"""Maximum number of parameters, and of response fields, that are shown to the model.

Further names hide the tool's purpose.
"""


@dataclass(frozen=True)
class ExpansionKind:
    """A kind of text, such as queries, that a model writes about a tool's document.

    `keys` are the keys of the JSON object in a reply, each of which has one text. If `sampled` is
    True, several replies with one text each are sampled; otherwise one reply has all texts.
    """

    name: str
    keys: tuple[str, ...]
    max_tokens: int
    sampled: bool = False
    fill: Callable[..., str] = fill
    """Returns the text of a prompt, such as `expand_NAME` or `expand_example_NAME`."""

    @cached_property
    def schema(self) -> JsonObject:
        """JSON Schema of a reply of the model with texts of this kind."""
        return an_object(dict.fromkeys(self.keys, a_text(_LONGEST, least=8)))

    @cached_property
    def version(self) -> str:
        """Hash of what the model is asked: the prompt, its example and the schema of the reply.

        Texts that were written with another version are written again.
        """
        parts = [message.content for message in self.build_prefix()] + [json.dumps(self.schema)]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]

    def messages(self, document: ToolDocument) -> list[Message]:
        """Return the messages that ask the model for texts about a document."""
        return [*self.build_prefix(), Message("user", render_document(document))]

    def build_prefix(self, tool: str = "") -> list[Message]:
        """Return the messages with which each prompt begins: the instructions and an example.

        `tool` replaces the tool of the standard example.
        """
        return [
            Message("system", self.fill(f"expand_{self.name}")),
            Message("user", tool or fill("expand_example_tool")),
            Message("assistant", self.fill(f"expand_example_{self.name}")),
        ]


SYNTHETIC = ExpansionKind("queries", ("query",), max_tokens=160, sampled=True)
"""The synthetic queries of the Re-Invoke paper, one per reply."""


def render_document(document: ToolDocument) -> str:
    """Return a tool's document as text for the prompt of a model."""
    fewer = dict(list(document.parameters.items())[:_MOST_NAMES])
    returns = document.returns[:_MOST_NAMES]
    return json_text(
        replace(
            document, description=document.description[:1500], parameters=fewer, returns=returns
        )
    )


QUERIES = 10
"""Number of synthetic queries per tool, as in the Re-Invoke paper."""
_TEMPERATURE = 0.7
_ATTEMPTS = 4
"""Maximum number of attempts for one reply, each with another seed."""


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
    """Let a model write the texts about `documents` that `store` lacks, and return the usage.

    `queries` is the number of replies per document if the kind is sampled. `pool` runs the work,
    one document at a time; each process opens its own model with `open_ask`. `watch` is called with
    the numbers of documents done and in total. The seed of a reply depends on the document alone,
    not on the order or on other documents.

    Raises:
        ModelUnavailable: the model failed. What it has written is kept, and the next call continues
            from there.
    """
    different = list({document.digest: document for document in documents}.values())
    key = {"kind": kind.name, "prompt": kind.version, "model": open_ask().name}
    # Threads share this list. A worker in another process has a copy, and finishes its few items.
    stopped: list[ModelUnavailable] = []

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
            f"the model failed when {done} of {len(different)} tools were expanded ({stopped[0]});"
            " these are kept: run it again to go on."
        ) from stopped[0]
    return usage


_ExpansionJob: TypeAlias = tuple[ToolDocument, Sequence[int], Sequence[str]]
"""A document, the numbers of its missing replies, and the texts that it already has."""
_ExpansionResult: TypeAlias = tuple[
    ToolDocument, Mapping[int, Sequence[str]], Usage, ModelUnavailable | None
]
"""A document, the texts of its new replies, the usage, and the error that ended the work or None.

The texts are keyed by the number of the reply.
"""


def _write_texts(
    wanted: _ExpansionJob, kind: ExpansionKind, ask: Ask, stopped: Sequence[object]
) -> _ExpansionResult:
    """Ask the model for those replies about one document that the store lacks.

    Stop early if the model fails, or if `stopped` is not empty, which means that it failed for
    another document.
    """
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
    """Ask the model for one reply about a document, and return the usable texts in it.

    There is one text for each key of the kind. Unusable texts are requested again; a text may still
    be missing after the last attempt.
    """
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
