"""Faults that a service injects on request.

They are drawn by seed, so that a run can be repeated.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias, get_args

from pydantic import ConfigDict, Field

from protocols.schema import Json

FaultKind = Literal["429", "500", "drop", "slow", "drop_after", "truncated", "drift"]
"""Kinds of injected faults.

`429`, `500`: an error response before anything is done. `drop`: the connection is closed before the
work is done. `slow`: a delayed response. `drop_after`: the connection is closed after the work is
done. `truncated`: the response is cut short. `drift`: the response's shape has changed.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceFault:
    """The fault of one request. If `kind` is None, the response is only delayed."""

    kind: FaultKind | None
    latency_seconds: float
    share: float
    """Part of a truncated response that is sent, between 0 and 1."""


Share: TypeAlias = Annotated[float, Field(ge=0, le=1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Faults:
    """Rates and parameters of faults.

    A request has at most one fault, so the rates add up to at most 1.
    The fault of the n-th request since the last reset depends only on `seed` and n. A drift is the
    same for every response of an operation: with `rate_drift` 1 it is a new version of the API,
    with less it comes and goes.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    seed: int = 0
    latency_ms: Annotated[float, Field(ge=0, le=60_000)] = 0.0
    """Mean delay of each response. The actual delay varies by up to half of it."""
    rate_429: Share = 0.0
    rate_500: Share = 0.0
    rate_drop: Share = 0.0
    """Connections closed before anything is done."""
    rate_slow: Share = 0.0
    """Responses delayed by `slow_seconds`."""
    rate_drop_after: Share = 0.0
    """Connections closed without a response, after a write was applied."""
    rate_truncated: Share = 0.0
    rate_drift: Share = 0.0
    retry_after_seconds: Annotated[int, Field(ge=0)] = 1
    """Value of a 429's Retry-After header."""
    slow_seconds: Annotated[float, Field(ge=0, le=600)] = 1.0
    renamed_share: Share = 0.0
    """Share of operations whose responses always have the same field renamed, besides other faults.

    """

    def draw(self, number: int) -> ServiceFault:
        """Draw the fault of request `number`."""
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
        """Return True if the responses of `operation` always have a renamed field, in every run."""
        drawn = random.Random(f"renamed {operation}").random()  # noqa: S311 - must repeat
        return drawn < self.renamed_share


_RATES: dict[str, FaultKind] = {f"rate_{kind}": kind for kind in get_args(FaultKind)}


_Path = tuple[str, ...]
"""Keys from the top. List indices are left out: all items of a list share a path."""


def drift_answer(
    answer: Json,
    *,
    operation: str,
    seed: int,
    how: Literal["rename", "retype", "null", "extra"] | None = None,
) -> tuple[Json, str]:
    """Change one field of `answer` and return the result with a description of the change.

    The field is renamed, converted to another type, set to null, or joined by a new field. Field
    and kind of change depend only on `seed` and `operation`, and on the fields that the answer has.
    In a list, all items are changed. The description is empty if there is no field to change.
    """
    places = sorted(_places(answer))
    if not places:
        return answer, ""
    # By rank, not by position: an answer that lacks some other field drifts as the full one does.
    path = min(places, key=lambda place: _generator(seed, operation, place).random())
    name = path[-1]
    shown = ".".join(path)
    match how or _generator(seed, operation).choice(("rename", "retype", "null", "extra")):
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


def _generator(*key: object) -> random.Random:
    """Return a random generator that depends only on `key`."""
    return random.Random(" ".join(map(str, key)))  # noqa: S311 - must repeat


def _places(value: Json) -> set[_Path]:
    if isinstance(value, list):
        return set().union(*map(_places, value)) if value else set()
    if not isinstance(value, Mapping):
        return set()
    return {(key,) for key in value} | {
        (key, *rest) for key, child in value.items() for rest in _places(child)
    }


def _change_at(value: Json, path: _Path, change: Any) -> Json:
    """Apply `change` to every object that has the last key of `path`."""
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
