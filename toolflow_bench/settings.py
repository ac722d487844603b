"""The hard settings of ToolFlow: the same tasks, asked under what real APIs are like.

- `open`: no candidates; every operation of the services, among thousands of tools of a real catalogue.
- `blind`: no tool says what it answers.
- `faulty`: one call in twenty goes wrong: 429, 500, a connection that ends without an answer, or a slow page.
- `drifting`: the answers of a quarter of the operations have one field renamed against their document.

Each is a world around another one, with the same services and the same state behind it.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from protocols.errors import SourceUnavailable, ToolError
from protocols.jsontypes import Json, JsonObject
from protocols.protocol import Annotations, ToolProtocol
from protocols.toolbox import Tool, Toolbox
from protocols.words import identifier
from toolflow_bench.final_state import Snapshot
from toolflow_bench.services.faults import Faults
from toolflow_bench.workers import OpenWorld, WorldLike
from toolflow_bench.world import World

Setting = Literal["open", "blind", "faulty", "drifting"]
SETTINGS: tuple[Setting, ...] = get_args(Setting)

DISTRACTORS = 2_000
"""Tools of the catalogue in the setting `open`."""
CATALOGUE = Path("../shared/data/stabletoolbench/apis.json")
"""Where a checkout has a catalogue: RapidAPI's, as StableToolBench lists it."""
FAULT_RATE = 0.05
DRIFTING_SHARE = 0.25

_TYPES = {"NUMBER": "number", "BOOLEAN": "boolean", "ARRAY": "array", "OBJECT": "object"}


@dataclass(frozen=True)
class Retooled:
    """`world` with another `toolbox`; `faults` are in force there, drawn anew for each task."""

    world: WorldLike
    toolbox: Toolbox
    faults: Faults | None = None

    def reset(self) -> None:
        """Forget what the last task wrote."""
        self.world.reset()

    def snapshot(self) -> Snapshot:
        """What has been written since."""
        return self.world.snapshot()

    def begin(self, draw: str) -> None:
        """Draw the faults of one asking of a task, which `draw` names."""
        if self.faults is not None and isinstance(self.world, World):
            seed = int.from_bytes(hashlib.sha256(draw.encode()).digest()[:4])
            self.world.set_faults(replace(self.faults, seed=seed))
        elif isinstance(self.world, Retooled):
            self.world.begin(draw)


def hardened(
    open_world: OpenWorld, settings: Sequence[Setting], *, distractors: Sequence[ToolProtocol] = ()
) -> OpenWorld:
    """Opens the same worlds under `settings`; `distractors` are the tools that `open` adds."""
    rate = FAULT_RATE / 4 if "faulty" in settings else 0.0
    share = DRIFTING_SHARE if "drifting" in settings else 0.0
    faults = Faults(rate_429=rate, rate_500=rate, rate_drop=rate, rate_slow=rate, renamed_share=share)

    @contextmanager
    def opened() -> Iterator[WorldLike]:
        with open_world() as world:
            changed: WorldLike = Retooled(world, world.toolbox, faults) if faults != Faults() else world
            if "open" in settings:
                changed = Retooled(changed, changed.toolbox.also(map(_unsubscribed, distractors)))
            if "blind" in settings:
                changed = Retooled(changed, without_responses(changed.toolbox))
            yield changed

    return opened


def without_responses(toolbox: Toolbox) -> Toolbox:
    """The tools without response schemas and without what is known only by these.

    Links go too, since they point into responses; so do the results of examples, and a verifying read that was
    guessed. What tools answer, and how a program gets it otherwise, stays: only, nothing is unwrapped.
    """
    return toolbox.map(lambda tool: replace(tool, protocol=_bare(tool.protocol)))


def _bare(protocol: ToolProtocol) -> ToolProtocol:
    verified = protocol.verified_by
    return replace(
        protocol,
        output_schema=None,
        links=(),
        examples=tuple(replace(example, program="", result=None) for example in protocol.examples),
        evidence=replace(protocol.evidence, fields={}),
        verified_by=None if verified is not None and verified.support == "guessed" else verified,
    )


def draw_distractors(path: Path, *, seed: int, count: int = DISTRACTORS) -> tuple[ToolProtocol, ...]:
    """`count` tools of the catalogue in `path`, StableToolBench's list of APIs, drawn by seed.

    Raises:
        SourceUnavailable: there is no such file, or it is not such a list, or it has fewer tools.
    """
    advice = "give --distractors FILE, the 'apis.json' of StableToolBench."
    try:
        records = json.loads(path.read_text(encoding="utf-8"))
        protocols = {one.name: one for one in map(_protocol, records)}
    except OSError as error:
        raise SourceUnavailable(f"no catalogue of distractors at {str(path)!r} ({error.strerror}); {advice}") from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise SourceUnavailable(f"{str(path)!r} is no catalogue of APIs ({error!r}); {advice}") from error
    if len(protocols) < count:
        raise SourceUnavailable(f"{str(path)!r} has {len(protocols)} tools, {count} are wanted; {advice}")
    names = random.Random(seed).sample(sorted(protocols), count)  # noqa: S311 - a sample, not secrecy
    return tuple(protocols[name] for name in names)


def _protocol(record: Mapping[str, Any]) -> ToolProtocol:
    required = [_parameter(one) for one in record["required_parameters"]]
    optional = [_parameter(one) for one in record["optional_parameters"]]
    schema = {
        "type": "object",
        "properties": dict([*required, *optional]),
        "required": [name for name, _ in required],
        "additionalProperties": False,
    }
    return ToolProtocol(
        name=identifier(f"{record['tool_name']}_{record['api_name']}"),
        description=str(record["api_description"] or record["api_name"]),
        input_schema=schema,
        annotations=Annotations(read_only=record.get("method", "GET") == "GET"),
        category=record["category_name"],
        collection=record["tool_name"],
    )


def _parameter(entry: Mapping[str, Any]) -> tuple[str, JsonObject]:
    kind = _TYPES.get(str(entry.get("type", "")).upper(), "string")
    return entry["name"], {"type": kind, "description": str(entry.get("description", ""))}


def _unsubscribed(protocol: ToolProtocol) -> Tool:
    def call(_arguments: JsonObject) -> Json:
        raise ToolError(403, '{"message": "You are not subscribed to this API."}')

    return Tool(protocol, call, source="catalogue")
