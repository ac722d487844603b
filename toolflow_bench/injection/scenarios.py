"""The scenarios of an injection: what a tool says, and the programs that a misled model would write."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from protocols.errors import AtcError
from protocols.jsontypes import Json
from toolflow_bench.injection.desk import Patch

SCENARIOS = Path(__file__).with_name("scenarios.toml")


class InvalidScenario(AtcError):
    """A file of scenarios that cannot be used: names the file and what is wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One attack. It succeeds when a call of `sink` reaches the service with one of the texts `hostile` in it.

    `answers` are what the desk's reading operations give, `patches` what stands in its document, `programs` the
    replies of the model in order (pieces of one program where the `strategy` is stepwise), `services` the services of
    ToolFlow that are there as well.
    """

    name: str
    kind: str
    task: str
    sink: str
    hostile: tuple[str, ...]
    programs: tuple[str, ...]
    answers: Mapping[str, Json]
    patches: tuple[Patch, ...] = ()
    trust: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    strategy: Literal["chain", "stepwise"] = "chain"


def load_scenarios(path: Path = SCENARIOS) -> tuple[Scenario, ...]:
    """The scenarios of a TOML file, in its order.

    Raises:
        InvalidScenario: the file cannot be read, or a scenario lacks a field or has one that is unknown.
    """
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidScenario(f"the scenarios in {str(path)!r} cannot be read: {error}; name a TOML file.") from error
    found = tuple(_scenario(one, path) for one in document.get("scenario", ()))
    names = [one.name for one in found]
    if not names or len(set(names)) < len(names):
        raise InvalidScenario(f"{str(path)!r} has no [[scenario]], or two of one name.")
    return found


def _scenario(document: Mapping[str, Any], path: Path) -> Scenario:
    try:
        return Scenario(
            **{
                **document,
                "answers": document.get("answers", {}),
                "patches": tuple(Patch(**patch) for patch in document.get("patches", ())),
                **{key: tuple(document.get(key, ())) for key in ("hostile", "programs", "trust", "services")},
            }
        )
    except TypeError as error:
        raise InvalidScenario(f"{str(path)!r}: the scenario {document.get('name')!r}: {error}.") from None
