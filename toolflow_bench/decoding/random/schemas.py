"""Random tools: an input schema of any shape, always the same for a seed, with arguments that conform to it."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from protocols.jsontypes import Json, JsonObject
from protocols.protocol import ToolProtocol
from protocols.schema import violations
from toolflow_bench.decoding.random.broken import broken
from toolflow_bench.decoding.random.composed import NAMES, value
from toolflow_bench.decoding.random.drafts import HOSTILE, Draft, Draw

SHARE_BROKEN = 0.06
_TOOL_NAMES = (
    "search",
    "search_all",
    "get",
    "max",
    "maximum",
    "a",
    "ab",
    "a-b",
    "list.items",
    "Über",
    "检索",
    'x"y',
    "x\ny",
    "x y",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A random tool. `kinds` says what its schema has (`pattern`, `oneOf`, `contradictory` …).

    `example` has arguments that conform, by original name; None where none is known, as of broken schemas.
    """

    protocol: ToolProtocol
    kinds: tuple[str, ...]
    example: JsonObject | None
    seed: int


def draw_tool(seed: int) -> Drawn:
    """The random tool of this seed."""
    draw = Draw(random.Random(f"tool {seed}"))  # noqa: S311 - a sample, not secrecy
    rng = draw.rng
    names = rng.sample((*NAMES, *HOSTILE) if draw.chance(0.3) else NAMES[:8], rng.randrange(0, 6))
    drafts = {name: value(draw, rng.randrange(4)) for name in names}
    required = [name for name in names if draw.chance(0.6)]
    hopeless = bool(names) and draw.chance(SHARE_BROKEN)
    properties: dict[str, Any] = {name: draft.schema for name, draft in drafts.items()}
    if hopeless:
        where = rng.choice(names)
        properties[where] = broken(draw)
        required += [where] * (where not in required and draw.chance(0.7))
    example: dict[str, Json] = {
        name: draft.example for name, draft in drafts.items() if name in required or draw.chance(0.5)
    }
    schema: dict[str, Any] = {"type": "object", "properties": properties, "required": required}
    if not required and draw.chance(0.5):
        del schema["required"]
    if draw.chance(0.3):
        schema["additionalProperties"] = False
    if draw.definitions:
        schema["$defs"] = {
            name: definition.schema if isinstance(definition, Draft) else definition
            for name, definition in draw.definitions.items()
        }
    return Drawn(
        protocol=ToolProtocol(name=rng.choice(_TOOL_NAMES), description='Says "hello".\n', input_schema=schema),
        kinds=tuple(sorted(draw.kinds)),
        example=None if hopeless or not _conforms(schema, example) else example,
        seed=seed,
    )


def _conforms(schema: JsonObject, example: JsonObject) -> bool:
    """False also of a schema that the validator refuses: overlapping parts of a random `oneOf` leave no example."""
    try:
        return not violations(schema, example)
    except ValueError:
        return False
