"""Asks a model for what is missing of the documents' expansions, several documents at a time."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from functools import partial
from itertools import islice
from typing import TypeAlias

from atc.retrieve.base import Ranker
from atc.retrieve.document import ToolDocument, vector_text
from atc.retrieve.expand.keep import Expansions
from atc.retrieve.expand.kinds import KINDS, Kind, names_tool, read_texts
from atc.retrieve.rewrite.samples import fault
from atc.retrieve.side_by_side import SideBySide
from atc.retrieve.tally import Tally
from atc.types import Usage
from protocols.ask import Ask
from protocols.errors import ModelUnavailable

QUERIES = 10
"""Synthetic queries a tool, as in Re-Invoke."""
_TEMPERATURE = 0.7
_ATTEMPTS = 4
"""Tries for one reply, each with another seed. From the second on the model does not see the tool's name."""

Near: TypeAlias = Callable[[ToolDocument], Sequence[ToolDocument]]
"""The documents that are most easily taken for one."""


def expand_all(
    documents: Sequence[ToolDocument],
    expansions: Expansions,
    ask: Ask,
    *,
    kinds: Sequence[str] = ("queries",),
    queries: int = QUERIES,
    near: Near | None = None,
    workers: int = 1,
    watch: Callable[[int, int], None] | None = None,
) -> Usage:
    """Have `ask` write what `expansions` lacks of `documents`; gives what that took.

    `queries` is the number of replies for the sampled kind. `near` is needed for the kind `contrast`; what was written
    against a neighbour is kept when the neighbour changes. `watch` is told how many of how many documents are done.
    A reply's seed depends on the document alone, not on the order or on other documents.

    Raises:
        ModelUnavailable: the model failed; what it has written is kept, and the next call goes on from there.
    """
    wanted = [KINDS[kind] for kind in kinds]
    if near is None and any(kind.compares for kind in wanted):
        raise ValueError("expansions of the kind 'contrast' need `near`")
    tally = Tally(ask)
    work = partial(_expand, expansions=expansions, ask=tally, kinds=wanted, queries=queries, near=near)
    done = 0
    different = list({document.digest: document for document in documents}.values())
    try:
        for _ in _each(work, different, workers=workers):
            done += 1
            if watch is not None:
                watch(done, len(different))
    except ModelUnavailable as error:
        raise ModelUnavailable(
            f"the model failed when {done} of {len(different)} tools were expanded ({error}); these are kept: run it"
            " again to go on."
        ) from error
    return tally.usage


def neighbours(documents: Sequence[ToolDocument], ranker: Ranker, *, count: int = 3) -> Near:
    """The `count` documents that `ranker` finds nearest to a document, itself left out."""
    by_name = {document.name: document for document in documents}

    def near(document: ToolDocument) -> list[ToolDocument]:
        (found,) = ranker.top([vector_text(document)], n=count + 1)
        names = [ranker.names[position] for position in found.positions.tolist()]
        return [by_name[name] for name in names if name != document.name and name in by_name][:count]

    return near


def _expand(
    document: ToolDocument,
    *,
    expansions: Expansions,
    ask: Tally,
    kinds: Sequence[Kind],
    queries: int,
    near: Near | None,
    stopped: threading.Event,
) -> None:
    for kind in kinds:
        key = {"kind": kind.name, "prompt": kind.version, "model": ask.name}
        kept = expansions.samples(document, **key)
        missing = [number for number in range(queries if kind.sampled else 1) if number not in kept]
        others = near(document) if kind.compares and near is not None and missing else ()
        known = [text for texts in kept.values() for text in texts]
        for sample in missing:
            if stopped.is_set():
                return
            texts = _reply(document, kind, ask, sample=sample, others=others, known=known)
            expansions.keep(document, texts, **key, sample=sample)
            known += texts


def _reply(
    document: ToolDocument,
    kind: Kind,
    ask: Ask,
    *,
    sample: int,
    others: Sequence[ToolDocument],
    known: Sequence[str],
) -> list[str]:
    """One good text for each key of the kind; what is faulty is asked for again, a text that says the tool's name too,
    though it is taken where there is no other.
    """
    good: dict[str, str] = {}
    second_best: dict[str, str] = {}
    for attempt in range(_ATTEMPTS):
        unnamed = attempt > 0 and bool(document.description)
        messages = kind.messages(document, others=others, unnamed=unnamed)
        completion = ask(
            messages,
            schema=kind.schema,
            temperature=_TEMPERATURE,
            seed=_seed(document, kind, sample, attempt),
            max_tokens=kind.max_tokens,
        )
        said = read_texts(completion.text)
        for key in kind.keys:
            text = said.get(key, "")
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


def _seed(document: ToolDocument, kind: Kind, sample: int, attempt: int) -> int:
    said = f"{document.digest} {kind.name} {sample} {attempt}"
    return int.from_bytes(hashlib.sha256(said.encode()).digest()[:4]) >> 1


def _each(work: Callable[..., None], documents: Sequence[ToolDocument], *, workers: int) -> Iterator[None]:
    """Do `work` for each document, `workers` at a time. Where one fails, those under way end their reply first."""
    stopped = threading.Event()
    if workers <= 1:
        for document in documents:
            work(document, stopped=stopped)
            yield
        return
    left = iter(documents)
    with SideBySide(workers) as pool:
        running: set[Future[None]] = {
            pool.submit(work, document, stopped=stopped) for document in islice(left, workers)
        }
        try:
            while running:
                finished, running = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    future.result()
                    running.update(pool.submit(work, document, stopped=stopped) for document in islice(left, 1))
                    yield
        finally:
            stopped.set()
