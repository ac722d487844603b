"""The search methods, and the parser of their specs.

A spec is a name with flags: `bm25`, `reinvoke:queries=5,on=bm25` (see `atc.core.specs`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from atc.core.specs import Flags, Kinds, read_spec
from protocols.errors import AtcError

AUTO = "auto"
"""Name that selects the best method which asks no model and which the index supports."""


class UnknownMethod(AtcError):
    """Raised if a search method or its flag does not exist, or if the flag rejects the value."""


@dataclass(frozen=True, kw_only=True)
class Method:
    """A search method, as it is listed for users.

    `asks` is True if it asks a model for every query, `embeds` if it needs the vectors of the
    index.
    """

    name: str
    summary: str
    flags: Kinds = field(default_factory=dict)
    asks: bool = False
    embeds: bool = False


_ON: Kinds = {"on": Literal["bm25", "dense", "hybrid"]}
_REINVOKE: Kinds = {**_ON, "queries": int, "intents": Literal["model", "split", "none"]}
_REWRITE: Kinds = {**_ON, "samples": int, "feedback": int}
_TOOLQP: Kinds = {**_ON, "queries": int, "shown": int}
_AGENT: Kinds = {
    **dict.fromkeys(("pool", "tools_per_agent", "steps", "tokens", "prompt_tokens"), int),
    "flat": bool,
}
_PRF = "the same with the best documents of a first pass in view"
_V = "embeds"
_M = "asks"
_TABLE: tuple[tuple[str, str, Kinds, tuple[str, ...]], ...] = (
    ("bm25", "shared words, stemmed, rare ones first", {}, ()),
    ("dense", "meaning: cosine of embeddings", {}, (_V,)),
    ("hybrid", "both, standardised and weighted", {}, (_V,)),
    (
        "blend",
        "documents, synthetic queries and words together; the best without a model",
        {},
        (_V,),
    ),
    (
        "d2q",
        "documents with the queries that a model expects (Doc2Query)",
        {**_ON, "queries": int},
        (_V,),
    ),
    (
        "reinvoke-split",
        "Re-Invoke with the query cut at its punctuation, not by a model",
        _REINVOKE,
        (_V,),
    ),
    (
        "reinvoke",
        "synthetic queries of tools, intents of the query (Re-Invoke)",
        _REINVOKE,
        (_V, _M),
    ),
    (
        "hyde",
        "a document that the model imagines stands for the query (Gao et al.)",
        _REWRITE,
        (_V, _M),
    ),
    ("hyde-prf", _PRF, _REWRITE, (_V, _M)),
    ("q2e", "words that the model adds to the query (Jagerman et al.)", _REWRITE, (_V, _M)),
    ("q2e-prf", _PRF, _REWRITE, (_V, _M)),
    ("q2d", "texts that the model adds to the query (Query2doc)", _REWRITE, (_V, _M)),
    ("q2d-prf", _PRF, _REWRITE, (_V, _M)),
    (
        "planned",
        "searches that the model plans for the task at once, merged in turns",
        _ON,
        (_V, _M),
    ),
    (
        "toolqp",
        "a plan, and a query for each sub-task with what was found in view (ToolQP)",
        _TOOLQP,
        (_V, _M),
    ),
    (
        "listwise",
        "the best of another method, ordered by the model",
        {"of": str, "candidates": int},
        (_V, _M),
    ),
    (
        "anytool",
        "agents over categories, collections and tools fill a pool (AnyTool)",
        _AGENT,
        (_M,),
    ),
)
METHODS: Mapping[str, Method] = {
    name: Method(name=name, summary=summary, flags=flags, **dict.fromkeys(needs, True))
    for name, summary, flags, needs in _TABLE
}
"""Search methods, keyed by name, in the order in which `--help` and tables list them."""


def read_method(spec: str) -> tuple[Method, Flags]:
    """Return the method and the flags of a spec such as `reinvoke:queries=5`.

    Raises:
        UnknownMethod: there is no such method or flag, or the flag does not accept the value.
    """
    try:
        return read_spec(spec, METHODS, what="method of search")
    except ValueError as error:
        raise UnknownMethod(str(error)) from error


def method_for(spec: str, *, asks: bool) -> str:
    """Return the spec of the search method to use in a run.

    `asks` is True if a model can be asked; then the default method is `planned`. Otherwise a method
    that asks a model is replaced by the best one that asks none.
    """
    if spec == AUTO:
        return "planned" if asks else AUTO
    return AUTO if not asks and read_method(spec)[0].asks else spec
