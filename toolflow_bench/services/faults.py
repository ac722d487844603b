"""Faults that a service injects on request.

They are drawn with a seed, so that a run can be repeated.
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

`429`, `500`: an error response before anything is done. `drop`: the connection is closed before
anything is done. `slow`: the response is delayed. `drop_after`: the connection is closed after the
work was done. `truncated`: the response is cut short. `drift`: a field of the response has changed.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceFault:
    """The fault of one request. If `kind` is None, the response is only delayed."""

    kind: FaultKind | None
    latency_seconds: float
    share: float
    """The part of a truncated response that is sent, between 0 and 1."""


Share: TypeAlias = Annotated[float, Field(ge=0, le=1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Faults:
    """Rates and parameters of faults.

    A request has at most one fault, so the rates add up to at most 1.

    The fault of the n-th request since the last reset depends only on `seed` and n. A drift makes
    the same change to every response of an operation: if `rate_drift` is 1, this acts like a new
    version of the API; if it is lower, the change comes and goes.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    seed: int = 0
    latency_ms: Annotated[float, Field(ge=0, le=60_000)] = 0.0
    """Mean delay of each response in milliseconds. The actual delay is 50% to 150% of it."""
    rate_429: Share = 0.0
    rate_500: Share = 0.0
    rate_drop: Share = 0.0
    """Rate of connections that are closed before anything is done."""
    rate_slow: Share = 0.0
    """Rate of responses that are delayed by `slow_seconds`."""
    rate_drop_after: Share = 0.0
    """Rate of connections that are closed without a response after the work was done."""
    rate_truncated: Share = 0.0
    rate_drift: Share = 0.0
    retry_after_seconds: Annotated[int, Field(ge=0)] = 1
    """Value of the Retry-After header of a response with status 429."""
    slow_seconds: Annotated[float, Field(ge=0, le=600)] = 1.0
    renamed_share: Share = 0.0
    """Share of the operations that always rename one field of their responses.

    These changes occur in addition to the other faults.
    """

    def draw(self, number: int) -> ServiceFault:
        """Return the fault of request `number`, which depends only on the seed and the number."""
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
        """Return True if the responses of `operation` always have a renamed field.

        This depends only on the operation and on `renamed_share`, not on the seed.
        """
        drawn = random.Random(f"renamed {operation}").random()  # noqa: S311 - must repeat
        return drawn < self.renamed_share


_RATES: dict[str, FaultKind] = {f"rate_{kind}": kind for kind in get_args(FaultKind)}


_Path = tuple[str, ...]
"""The keys that lead to a field. List indices are left out, so all items of a list share a path."""


def drift_answer(
    answer: Json,
    *,
    operation: str,
    seed: int,
    how: Literal["rename", "retype", "null", "extra"] | None = None,
) -> tuple[Json, str]:
    """Change one field of `answer` and return the result with a description of the change.

    The field is renamed, converted to another type or set to null, or a new field is added beside
    it. The field and the kind of change depend only on `seed`, on `operation` and on the fields
    that the answer has. In a list, all items are changed. The description is empty if there is no
    field to change.
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
    """Apply the function `change` to every object that contains the field at `path`."""
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
