"""The hard settings of ToolFlow, that is, the same tasks under the conditions of real APIs.

- `open`: a task has no list of candidates. The tools are all operations of the services and
  thousands of tools from a real catalogue.
- `blind`: no tool documents its responses.
- `faulty`: one call in twenty fails: status 429 or 500, a connection closed without a response, or
  a slow response. Half of the connections are closed after the work was done, so that neither who
  sends a lost write again nor who takes it for done is always right.
- `drifting`: for a quarter of the operations, the response has another name for one field than the
  document says.

Each setting changes the tools or the faults of a `World` when it is opened.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, get_args

from protocols.errors import SourceUnavailable, ToolError
from protocols.naming import identifier
from protocols.protocol import Annotations, ToolProtocol
from protocols.schema import Json, JsonObject
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from toolflow_bench.services.faults import Faults
from toolflow_bench.world import World

Setting = Literal["open", "blind", "faulty", "drifting"]
SETTINGS: tuple[Setting, ...] = get_args(Setting)

DISTRACTORS = 2_000
"""Number of tools from the catalogue that the setting `open` adds."""
CATALOGUE = Path("../shared/data/stabletoolbench/apis.json")
"""Path of the catalogue in a checkout: RapidAPI's APIs, as StableToolBench lists them."""
FAULT_RATE = 0.05
DRIFTING_SHARE = 0.25

_TYPES = {"NUMBER": "number", "BOOLEAN": "boolean", "ARRAY": "array", "OBJECT": "object"}


OpenWorld = Callable[[], AbstractContextManager[World]]


def harden_worlds(
    open_world: OpenWorld, settings: Sequence[Setting], *, distractors: Sequence[ToolProtocol] = ()
) -> OpenWorld:
    """Return a function that opens a `World` with `open_world`, and then applies the hard settings.

    The setting `open` adds the tools `distractors`.
    """
    rate = FAULT_RATE / 4 if "faulty" in settings else 0.0
    share = DRIFTING_SHARE if "drifting" in settings else 0.0
    faults = Faults(
        rate_429=rate,
        rate_500=rate,
        rate_drop=rate / 2,
        rate_drop_after=rate / 2,
        rate_slow=rate,
        renamed_share=share,
    )

    @contextmanager
    def open_hardened_world() -> Iterator[World]:
        with open_world() as world:
            world.faults = faults if faults != Faults() else None
            if "open" in settings:
                world.toolbox = world.toolbox.also(map(_unsubscribed_tool, distractors))
            if "blind" in settings:
                world.toolbox = without_responses(world.toolbox)
            yield world

    return open_hardened_world


def without_responses(toolbox: Toolbox) -> Toolbox:
    """Return the tools without response schemas and without anything that reveals them.

    Links (which point into responses), results of examples and guessed verifying reads are removed
    too. The responses themselves do not change.
    """
    return toolbox.map(lambda tool: replace(tool, protocol=_without_response_schema(tool.protocol)))


def _without_response_schema(protocol: ToolProtocol) -> ToolProtocol:
    verified = protocol.verified_by
    return replace(
        protocol,
        output_schema=None,
        links=(),
        examples=tuple(replace(example, program="", result=None) for example in protocol.examples),
        evidence=replace(protocol.evidence, fields={}),
        verified_by=None if verified is not None and verified.support == "guessed" else verified,
    )


def draw_distractors(
    path: Path, *, seed: int, count: int = DISTRACTORS
) -> tuple[ToolProtocol, ...]:
    """Draw `count` tools with the seed from StableToolBench's list of APIs in the file `path`.

    Raises:
        SourceUnavailable: the file is missing, is not such a list, or has too few tools.
    """
    advice = "give --distractors FILE, the 'apis.json' of StableToolBench."
    try:
        records = json.loads(path.read_text(encoding="utf-8"))
        protocols = {one.name: one for one in map(_protocol, records)}
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise SourceUnavailable(
            f"no catalogue of distractors at {str(path)!r} ({error!r}); {advice}"
        ) from error
    if len(protocols) < count:
        raise SourceUnavailable(
            f"{str(path)!r} has {len(protocols)} tools, {count} are wanted; {advice}"
        )
    names = random.Random(seed).sample(sorted(protocols), count)  # noqa: S311 - must repeat
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


def _unsubscribed_tool(protocol: ToolProtocol) -> Tool:
    def call(_arguments: JsonObject) -> Json:
        raise ToolError(403, '{"message": "You are not subscribed to this API."}')

    return Tool(protocol, call, source="catalogue")
