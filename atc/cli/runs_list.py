"""The list of runs that `atc runs list` prints: as text, and as objects of JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from atc.cli.run_text import clip_line, format_duration, format_time
from atc.core.pages.formats import dollars
from atc.core.quoting import escape_hidden
from atc.core.text import clipped, count
from atc.models.prices import cost_of
from atc.run.output_type import final_value
from atc.store.stored import RunSummary, StoredRun
from protocols.schema import Json

_LISTED = (
    "run_id",
    "task",
    "created",
    "ended",
    "status",
    "model",
    "strategy",
    "sandbox",
    "consent",
    "answer",
    "error",
    "attempt_count",
    "call_count",
)
"""Fields of a `RunSummary` that `atc runs list --json` shows."""
_LEAST_TASK = 24
"""Characters of the task that must fit beside the other columns. Else it gets a line."""


def list_entry(stored: StoredRun) -> dict[str, Json]:
    """Return a run as one object of the JSON list that `atc runs list --json` prints."""
    run = stored.summary
    return {name: getattr(run, name) for name in _LISTED} | {
        "answer": final_value(run.answer, stored.attempts, run.context),
        "input_tokens": run.usage.input_tokens,
        "output_tokens": run.usage.output_tokens,
        "cost": run_cost(stored),
        "doubts": list(stored.doubts),
        "reason": stored.reason or None,
    }


def run_cost(stored: StoredRun) -> float | None:
    """Return what the model cost in USD; None if its price is not known."""
    run = stored.summary
    return cost_of(stored.summary.usage, run.model, run.config.get("model_price"))


def format_list(runs: Sequence[StoredRun], width: int | None) -> list[str]:
    """Return the lines of the list, cut to `width` characters, or not cut if that is None.

    Each run has a line with its task. Where there is no room, the task stands below. Further lines
    say why the run failed, and what speaks against its answer.
    """
    heads = [_cells(run) for run in runs]
    widths = [max(map(len, column)) for column in zip(*heads, strict=True)]
    room = None if width is None else width - sum(widths) - 2 * len(widths)
    lines: list[str] = []
    for run, cells in zip(runs, heads, strict=True):
        task = escape_hidden(clip_line(run.purpose))
        if room is None or room >= _LEAST_TASK:
            head = "  ".join(cell.ljust(size) for cell, size in zip(cells, widths, strict=True))
            lines.append(f"{head}  {clipped(task, room)}".rstrip())
            indent = " " * (widths[0] + 2)
        else:
            lines += _wrap(cells, width or 0)
            indent = "  "
            lines.append(f"{indent}{clipped(task, (width or 0) - len(indent))}")
        for label, text in _remarks(run):
            shown = f"{label:<6}  {escape_hidden(clip_line(text))}"
            lines.append(indent + _cut(shown, width, len(indent)))
    return lines


def _cells(stored: StoredRun) -> list[str]:
    """Return what a line says about a run before its task."""
    run = stored.summary
    tokens = stored.summary.usage.input_tokens + stored.summary.usage.output_tokens
    cost = run_cost(stored)
    return [
        run.run_id,
        _status(run, len(stored.doubts)),
        format_time(run.created),
        format_duration(run),
        count(tokens, "token"),
        "-" if cost is None else dollars(cost),
    ]


def _status(run: RunSummary, doubts: int) -> str:
    """Return the status of a run, with what else matters about its answer."""
    parts = [run.status, *([count(doubts, "doubt")] if doubts else [])]
    return ", ".join([*parts, *(["consent none"] if run.consent == "none" else [])])


def _remarks(stored: StoredRun) -> Iterator[tuple[str, str]]:
    """Yield the further lines about a run: why it failed, and the doubts about its answer."""
    if stored.reason:
        yield "reason", stored.reason
    for doubt in stored.doubts:
        yield "doubt", doubt


def _cut(text: str, width: int | None, used: int) -> str:
    """Return a line cut to what is left of `width`, of which `used` characters are taken."""
    if width is None or len(text) <= width - used:
        return text
    return text[: max(width - used, 10) - 1] + "…"


def _wrap(cells: Iterable[str], width: int) -> list[str]:
    """Return the cells in as many lines as they need. All lines but the first are indented."""
    lines = [""]
    for cell in cells:
        if lines[-1].strip() and len(lines[-1]) + 2 + len(cell) > width:
            lines.append("")
        lines[-1] += f"  {cell}" if lines[-1] or len(lines) > 1 else cell
    return lines
