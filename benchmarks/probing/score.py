"""Scores that compare probed protocols with the service's own document. Scores are counts.

A field is a pair of a path (`airports[].code`, `rates.*`) and a JSON type other than `null`.
`integer` and `number` are different types. A field that was found without a type counts as wrong.
"""

from __future__ import annotations

import json
import shutil
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from probing.probe import probe
from probing.report import write
from probing.samples import Log, ProbeSettings, Sample
from protocols.client import Invoker, InvokeSettings
from protocols.effects import annotate_effects
from protocols.model import Ask
from protocols.private_files import write_whole
from protocols.protocol import HttpBinding, ToolProtocol, dump
from protocols.schema import JsonObject, resolve, types
from protocols.sources import load_tools
from protocols.toolbox import Toolbox

STATUSES = ("404", "409", "422")  # declared outcomes that a caller can bring about
LinkKey = tuple[
    str, str, str, str
]  # producing tool, path in its response, consuming tool, argument
Fields = dict[str, frozenset[str]]  # the JSON types of each path, with `null`; `any` without a type
Row = dict[str, Any]
"""The measurements of one service or class, as plain JSON."""
_DEEPEST = 12


def rate(produced: Collection[object], wanted: Collection[object]) -> Row:
    """Count how many of the wanted items were produced. Repeated items count once.

    The result has the number of produced items (`said`), of wanted items (`wanted`), and of
    produced items that are wanted (`right`), with precision and recall.
    """
    return with_shares(
        {
            "right": len(set(produced) & set(wanted)),
            "said": len(set(produced)),
            "wanted": len(set(wanted)),
        }
    )


def share(verdicts: Iterable[bool]) -> Row:
    """Return how many of the verdicts are True.

    The result has the number of all verdicts (`of`), of those that are True (`right`), and their
    share.
    """
    listed = list(verdicts)
    return with_shares({"right": sum(listed), "of": len(listed)})


def with_shares(counts: Row) -> Row:
    """Return the counts with the shares that follow from them, such as precision and recall.

    A share is None if its divisor is 0.
    """
    right = counts["right"]
    ends = (("share", "of"),) if "of" in counts else (("precision", "said"), ("recall", "wanted"))
    return {
        **counts,
        **{name: round(right / counts[of], 4) if counts[of] else None for name, of in ends},
    }


def sum_counts(counts: Sequence[Any]) -> Any:
    """Add up counts and compute their shares again.

    The counts may be nested mappings, all with the same keys.
    """
    first = counts[0]
    if not isinstance(first, Mapping):
        return sum(counts)
    if "right" in first:
        names = ("right", "of") if "of" in first else ("right", "said", "wanted")
        return with_shares({name: sum(_column(counts, name)) for name in names})
    return {key: sum_counts(_column(counts, key)) for key in first}


def _column(rows: Sequence[Mapping[str, Any]], key: str) -> list[Any]:
    return [row[key] for row in rows]


def schema_fields(schema: JsonObject | None) -> Fields:
    """Return the fields that a response schema describes, each path with its JSON types.

    The response as a whole is not a field.
    """
    found: dict[str, set[str]] = {}
    if schema is not None:
        _walk_schema(schema, schema, "", 0, found)
    kept = {
        path: kinds - ({"integer"} if "number" in kinds else set())
        for path, kinds in found.items()
        if path
    }
    return {path: frozenset(kinds) for path, kinds in sorted(kept.items())}


def has_described_value(schema: JsonObject | None) -> bool:
    """Return True if a response schema describes a value other than an object, array or null."""
    kinds = [
        *schema_fields(schema).values(),
        frozenset(types(resolve(schema, schema)) if schema else ()),
    ]
    return any(of - {"object", "array", "null", "any"} for of in kinds)


def _walk_schema(
    schema: Any, root: JsonObject, path: str, depth: int, found: dict[str, set[str]]
) -> None:
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        if schema is True:
            found.setdefault(path, set()).add("any")
        return
    here = resolve(schema, root)
    branches = [part for keyword in ("allOf", "anyOf", "oneOf") for part in here.get(keyword, ())]
    if types(here) or not branches:
        found.setdefault(path, set()).update(types(here) or ("any",))
    for part in branches:
        _walk_schema(part, root, path, depth + 1, found)
    for where, part in _iter_children(here, path):
        _walk_schema(part, root, where, depth + 1, found)


def _iter_children(schema: JsonObject, path: str) -> Iterator[tuple[str, Any]]:
    """Yield the path and schema of each property and item of a resolved schema.

    Additional properties have the path `*`.
    """
    for key, part in schema.get("properties", {}).items():
        yield f"{path}.{key}".lstrip("."), part
    rest = (schema.get("additionalProperties"), *schema.get("patternProperties", {}).values())
    for part in rest:
        if isinstance(part, Mapping):
            yield f"{path}.*".lstrip("."), part
    for part in (schema.get("items"), *schema.get("prefixItems", ())):
        if isinstance(part, Mapping):
            yield f"{path}[]", part


def _pairs(schema: JsonObject | None) -> set[tuple[str, str]]:
    return {
        (path, kind)
        for path, kinds in schema_fields(schema).items()
        for kind in kinds - {"null"} or kinds
    }


def links_of(protocols: Iterable[ToolProtocol]) -> set[LinkKey]:
    """Return the links of the protocols, except those that were only guessed."""
    known = {protocol.name: protocol for protocol in protocols}
    return {
        (link.tool, link.path, name, link.argument)
        for name, protocol in known.items()
        for link in protocol.links
        if link.support != "guessed" and link.tool in known
    }


def score_tool(produced: ToolProtocol | None, declared: ToolProtocol) -> Row:
    """Return the counts that compare one tool's probed protocol with its document.

    Response fields count only if the document describes the response.
    """
    output = produced.output_schema if produced else None
    wanted = declared.output_schema
    names = list(declared.parameters)
    required = produced.required if produced else frozenset()
    statuses = [_declared_statuses(one) for one in (produced, declared)]
    return {
        "documented": share([has_described_value(output)]),
        "fields": rate(_pairs(output), _pairs(wanted)) if wanted else rate((), ()),
        "required": share(
            bool(produced) and (name in required) == (name in declared.required) for name in names
        ),
        "argument_types": share(_types(produced, name) == _types(declared, name) for name in names),
        "errors": rate(*statuses),
    }


def _declared_statuses(protocol: ToolProtocol | None) -> set[str]:
    if protocol is None:
        return set()
    return {error.status for error in protocol.errors} & set(STATUSES)


def _types(protocol: ToolProtocol | None, name: str) -> set[str] | None:
    if protocol is None:
        return None
    return set(types(resolve(protocol.parameters.get(name, {}), protocol.input_schema))) - {"null"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteOptions:
    """Options of a suite, which are the same for all services or classes that it measures.

    `out` is the folder for all output. `cache` is the folder of the services' data.
    """

    out: Path
    cache: Path | None = None
    per_tool: int = 15  # most calls of one tool
    model: str = "none"
    ask: Ask | None = None


@dataclass(frozen=True, kw_only=True)
class ProbingResult:
    """The samples (calls with their answers) and protocols of a probing run, and what the run cost.

    `stopped` maps a tool that was not called to the reason. `spent` has the number of calls (in
    total, and the mean and maximum of a tool) and the seconds.
    """

    samples: Sequence[Sample]
    protocols: Mapping[str, ToolProtocol]
    stopped: Mapping[str, str]
    spent: Row


def run_probing(
    given: Sequence[ToolProtocol], folder: Path, *, name: str, writes: bool, options: SuiteOptions
) -> ProbingResult:
    """Write the tools to files, as a user would, load them and probe them.

    All files are kept in `folder`.
    """
    shutil.rmtree(folder, ignore_errors=True)  # left over from an interrupted measurement
    for protocol in given:
        write_whole(
            folder / "stripped" / f"{protocol.name}.json",
            json.dumps(dump(protocol), indent=1) + "\n",
        )
    with Invoker(
        InvokeSettings(retries=0, timeout_seconds=ProbeSettings().timeout_seconds)
    ) as invoker:
        toolbox = load_tools(f"{name}={folder / 'stripped'}", invoker=invoker)
        return probe_toolbox(toolbox, folder, writes=writes, options=options)


def probe_toolbox(
    toolbox: Toolbox, folder: Path, *, writes: bool, options: SuiteOptions
) -> ProbingResult:
    """Probe the tools of `toolbox`. The resulting protocols are stored in `folder/protocols`."""
    settings = ProbeSettings(
        allow_writes=writes, per_tool=options.per_tool, requests_per_second=None
    )
    began = time.perf_counter()
    cpu = time.process_time()
    with Log(folder / "protocols") as log:
        probed = probe(toolbox, log, settings=settings, ask=options.ask)
        samples = tuple(log.samples)
    written = write(folder / "protocols", probed, keep_values=True)
    sent = Counter(sample.tool for sample in samples)
    by_tool = [sent[tool.protocol.name] for tool in toolbox.values()]
    spent = {
        "calls": {
            "total": sum(by_tool),
            "mean": round(sum(by_tool) / len(by_tool), 4),
            "max": max(by_tool),
        },
        "seconds": round(time.perf_counter() - began, 2),
        "cpu_seconds": round(time.process_time() - cpu, 2),
    }
    return ProbingResult(
        samples=samples, protocols=written.protocols, stopped=probed.stopped, spent=spent
    )


def strip(protocols: Iterable[ToolProtocol]) -> list[ToolProtocol]:
    """Return the protocols with nothing but the names of tools and arguments, methods and URLs."""
    found = []
    for protocol in protocols:
        binding = protocol.binding
        if isinstance(binding, HttpBinding):
            binding = replace(binding, idempotency_header=None, credentials=())
        schema = {"type": "object", "properties": {name: {} for name in protocol.parameters}}
        found.append(ToolProtocol(name=protocol.name, input_schema=schema, binding=binding))
    return annotate_effects(found, written=[one.name for one in found])


COUNTS = (
    "documented",
    "fields",
    "required",
    "argument_types",
    "errors",
    "links",
    "seconds",
    "cpu_seconds",
)
"""Keys of a `Row` whose counts can be added up."""


def sum_rows(rows: Sequence[Row]) -> Row:
    """Add up the counts in the measurements (rows) of several services or classes."""
    sent = sum(row["calls"]["total"] for row in rows)
    tools = sum(row["tools"] for row in rows)
    calls = {
        "total": sent,
        "mean": round(sent / tools, 4),
        "max": max(row["calls"]["max"] for row in rows),
    }
    return {
        "tools": tools,
        "calls": calls,
        **{key: sum_counts(_column(rows, key)) for key in COUNTS},
    }
