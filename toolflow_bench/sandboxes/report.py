"""What was measured, for people."""

from __future__ import annotations

from collections.abc import Iterator

from toolflow_bench.sandboxes.containment import Containment
from toolflow_bench.sandboxes.coverage import Coverage
from toolflow_bench.sandboxes.latency import Latency, Quantiles
from toolflow_bench.sandboxes.soak import Soaked
from toolflow_bench.sandboxes.suite import Measured


def lines(one: Measured) -> Iterator[str]:
    """One backend, a line each."""
    without = f" without {', '.join(one.without)}" if one.without else ""
    if one.unavailable is not None:
        yield f"{one.backend}{without}: not measured: {one.unavailable}"
        return
    yield f"{one.backend}{without}: {', '.join(one.layers) or 'no layers'}"
    if one.containment is not None:
        yield from _containment(one.containment)
    if one.ordinary is not None:
        yield from _ordinary(one.ordinary)
    if one.latency is not None:
        yield from _latency(one.latency)
    if one.soak is not None:
        yield from _soak(one.soak)


def _containment(found: Containment) -> Iterator[str]:
    width = max(len(verdict.program) for verdict in found.verdicts)
    for verdict in found.verdicts:
        how = verdict.reason or verdict.failure or "finished"
        yield f"  {verdict.program:<{width}}  {verdict.verdict:<9}  {verdict.seconds:5.2f} s  {how}"
    yield from (f"  the sandbox died before it ran {text}" for text in found.lost_starts)
    yield f"  hostile   {found.contained} of {len(found.verdicts)} contained"


def _ordinary(found: Coverage) -> Iterator[str]:
    width = max(len(one.program) for one in found.comparisons)
    for one in found.comparisons:
        yield f"  {one.program:<{width}}  {one.state:<9}  {one.reason}".rstrip()
    varying = len(found.comparisons) - found.same - found.differing
    more = f", {varying} vary by themselves" if varying else ""
    yield f"  ordinary  {found.same} of {len(found.comparisons)} as in CPython{more}"


def _latency(found: Latency) -> Iterator[str]:
    yield f"  first run, start included   {found.cold_ms:8.1f} ms"
    for name, taken, unit in (
        ("print(1), child waiting", found.prefork_ms, "ms"),
        ("print(1), on demand", found.on_demand_ms, "ms"),
        ("print(1), one after another", found.warm_ms, "ms"),
        ("one tool call", found.call_us, "µs"),
        ("an echo between processes", found.echo_us, "µs"),
        ("overrun of the wall limit", found.overrun_ms, "ms"),
    ):
        if taken is not None:
            yield f"  {name:<27} {_quantiles(taken, unit)}"
    if found.overrun_worst_ms:
        yield "  worst overrun by kind       " + ", ".join(f"{k} {v:.1f}" for k, v in found.overrun_worst_ms.items())
    for kind, end in found.other_ends.items():
        yield f"  the endless {kind} ended otherwise: {end}"
    if found.idle_child_bytes is not None:
        yield f"  a waiting child, private    {found.idle_child_bytes / 2**20:8.2f} MiB"


def _quantiles(taken: Quantiles, unit: str) -> str:
    digits = 2 if unit == "ms" else 1
    figures = (("min", taken.minimum), ("p50", taken.p50), ("p95", taken.p95), ("max", taken.maximum))
    return "  ".join(f"{value:8.{digits}f} {name}" for name, value in figures) + f"  {unit} of {taken.count}"


def _soak(found: Soaked) -> Iterator[str]:
    yield f"  soak      {found.runs:,} runs, {found.jobs} at a time: {found.runs_per_second:.0f} a second"
    first, last = found.resident_first_bytes / 2**20, found.resident_last_bytes / 2**20
    yield f"  host      {first:.1f} MiB in the first quarter, {last:.1f} in the last: {_flat(found)}"
    yield "  ends      " + ", ".join(f"{count:,} {end}" for end, count in found.ends.items())
    if found.trouble:
        yield f"  wrong     {found.trouble:,} runs gave something else than they should:"
        yield from (f"            {text}" for text in found.troubles)
    yield from (f"  left      {text}" for text in found.leaks or ("nothing",))


def _flat(found: Soaked) -> str:
    return "flat" if found.flat else "not flat"
