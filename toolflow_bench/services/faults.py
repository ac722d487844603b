"""Faults that a service commits on request, drawn by seed so that a run repeats."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias, get_args

from pydantic import ConfigDict, Field

from protocols.schema import Json

FaultKind = Literal["429", "500", "drop", "slow", "drop_after", "truncated", "drift"]
"""Too many requests and a server error, both before anything is done; a connection closed before the work; an answer
that takes long; a connection closed after the work; an answer cut short; an answer whose shape has changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceFault:
    """What is to go wrong with one request. `kind` None: nothing, but the wait."""

    kind: FaultKind | None
    latency_seconds: float
    share: float
    """Of an answer cut short: how much of it arrives, above 0 and below 1."""


Share: TypeAlias = Annotated[float, Field(ge=0, le=1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Faults:
    """How often a service fails, and how. A request has one fault at most, so the rates add up to 1 at most.

    What happens to the n-th request since the last reset depends on `seed` and n alone. A drift is the same for every
    answer of an operation: with `rate_drift` 1 it is a new version of the API, below that one that comes and goes.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    seed: int = 0
    latency_ms: Annotated[float, Field(ge=0, le=60_000)] = 0.0
    """Each answer waits between half and one and a half times so long."""
    rate_429: Share = 0.0
    rate_500: Share = 0.0
    rate_drop: Share = 0.0
    """Closed before anything was done."""
    rate_slow: Share = 0.0
    """Answered after `slow_seconds` more."""
    rate_drop_after: Share = 0.0
    """Closed without an answer, after a write was applied."""
    rate_truncated: Share = 0.0
    rate_drift: Share = 0.0
    retry_after_seconds: Annotated[int, Field(ge=0)] = 1
    """What a 429 asks its client to wait."""
    slow_seconds: Annotated[float, Field(ge=0, le=600)] = 1.0
    renamed_share: Share = 0.0
    """Of operations: their answers have one field renamed, always the same, whatever else goes wrong."""

    def draw(self, number: int) -> ServiceFault:
        """What happens to the request of this number."""
        rng = random.Random(f"{self.seed} {number}")  # noqa: S311 - must repeat
        latency = self.latency_ms * rng.uniform(0.5, 1.5) / 1000
        point = rng.random()
        share = rng.uniform(0.1, 0.9)
        chosen: FaultKind | None = None
        for name, kind in _RATES.items():
            point -= getattr(self, name)
            if point < 0:
                chosen = kind
                break
        if chosen == "slow":
            latency += self.slow_seconds
        return ServiceFault(kind=chosen, latency_seconds=latency, share=share)

    def renames(self, operation: str) -> bool:
        """Whether the answers of `operation` have a field renamed, in every run the same."""
        return random.Random(f"renamed {operation}").random() < self.renamed_share  # noqa: S311 - must repeat


_RATES: dict[str, FaultKind] = {f"rate_{kind}": kind for kind in get_args(FaultKind)}


_Path = tuple[str, ...]
"""Keys from the top; every item of a list counts as the same place, so lists take no step."""


def drift_answer(
    answer: Json,
    *,
    operation: str,
    seed: int,
    how: Literal["rename", "retype", "null", "extra"] | None = None,
) -> tuple[Json, str]:
    """`answer` with one field renamed, of another type, null or doubled by a new one, and what was done, in words.

    Which field and how depends on `seed` and `operation` alone, as far as the answer has the field; in a list it
    happens to all items. Empty words: there is no field to change.
    """
    places = sorted(_places(answer))
    if not places:
        return answer, ""
    # By rank, not by position: an answer that lacks some other field drifts as the full one does.
    path = min(places, key=lambda place: random.Random(f"{seed} {operation} {place}").random())  # noqa: S311
    name = path[-1]
    shown = ".".join(path)
    match how or random.Random(f"{seed} {operation}").choice(("rename", "retype", "null", "extra")):  # noqa: S311
        case "rename":
            new = _rename_field(name)
            change = f"renamed {shown} to {new}"
            changed = _change_at(
                answer,
                path,
                lambda found: {new if key == name else key: v for key, v in found.items()},
            )
        case "retype":
            change = f"changed the type of {shown}"
            changed = _change_at(
                answer, path, lambda found: {**found, name: _retype_field(found[name])}
            )
        case "null":
            change = f"made {shown} null"
            changed = _change_at(answer, path, lambda found: {**found, name: None})
        case _:
            change = f"added {shown}_info"
            changed = _change_at(
                answer, path, lambda found: {**found, f"{name}_info": {"version": 2}}
            )
    return changed, change


def _places(value: Json) -> set[_Path]:
    if isinstance(value, list):
        return set().union(*map(_places, value)) if value else set()
    if not isinstance(value, Mapping):
        return set()
    return {(key,) for key in value} | {
        (key, *rest) for key, child in value.items() for rest in _places(child)
    }


def _change_at(value: Json, path: _Path, change: Any) -> Json:
    """`value` with `change` done to every object that has the last key of `path`."""
    if isinstance(value, list):
        return [_change_at(item, path, change) for item in value]
    if not isinstance(value, Mapping) or path[0] not in value:
        return value
    if len(path) == 1:
        changed: Json = change(value)
        return changed
    return {**value, path[0]: _change_at(value[path[0]], path[1:], change)}


def _rename_field(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others)) if others else f"{name}_value"


def _retype_field(value: Json) -> Json:
    match value:
        case bool() | int() | float():
            return str(value)
        case str() | None:
            return {"value": value}
        case list():
            return {"items": value}
        case _:
            return [value]
