"""How a probing ended: a summary on stdout, and the next step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from atc.cli.output import count, error_document, escape_controls, print_json, print_text, say
from atc.cli.probe_setup import cut_off
from probing.coverage import coverage, made_line
from probing.log import Log
from probing.output import READABLE, Written
from probing.probed import Probed

_MOST_SHOWN = 12
"""Tools without a response that the summary lists; the coverage report has all."""


def conclude(written: Written, probed: Probed, log: Log, *, ended: int, as_json: bool) -> int:
    """Print what became of the probing, and give the exit code: `ended` where a signal ended it (0: none did)."""
    folder = written.folder
    report = coverage(probed, written.protocols)
    code, problem = ended, ""
    if not ended and not report["totals"]["answered"]:
        problem = f"No tool could be documented; {folder / READABLE} says why."
        # Nothing answered at all although calls were allowed: it is down, and says nothing of the tools.
        code = 3 if not log.samples and any("connect" in why for why in probed.stopped.values()) else 1
    if as_json:
        files = {"written": list(written.written), "kept": list(written.kept), "stale": list(written.stale)}
        print_json(
            {"folder": str(folder), "interrupted": bool(ended), "sent": log.sent, **files, **report}
            | (error_document(problem, code) if problem else {})
        )
    else:
        print_text("\n".join(_summary(report, log, written)))
    if told := cut_off(log):
        say(told)
    if ended:
        say("Interrupted. The same command goes on; no call is made twice.")
    elif problem:
        say(problem)
    elif not as_json:
        say(f'Next: atc run "…" --tools {folder}')
    return code


def _summary(report: Mapping[str, Any], log: Log, written: Written) -> Iterator[str]:
    totals = report["totals"]
    known = f"{count(totals['fields'], 'response field')}, {count(totals['links'], 'link')}"
    yield f"{totals['answered']} of {count(totals['tools'], 'tool')} documented with {count(log.sent, 'call')}: {known}"
    silent = [(name, tool) for name, tool in report["coverage"].items() if not tool["answered"]]
    for name, tool in silent[:_MOST_SHOWN]:
        yield f"  {name}: {'; '.join(text.rstrip('.') for text in tool['missing']) or 'not called'}"
    if len(silent) > _MOST_SHOWN:
        yield f"  … and {len(silent) - _MOST_SHOWN} more"
    partly = sum(bool(tool["answered"] and tool["missing"]) for tool in report["coverage"].values())
    if partly:
        yield f"Of {count(partly, 'documented tool')} something is missing still."
    for made in report["made"]:
        yield f"{'Made and removed' if made['removed'] else 'Made and left'}: {escape_controls(made_line(made))}"
    if written.kept:
        yield f"Kept as they were changed by hand: {', '.join(written.kept)}; new versions are in {written.aside}"
    if written.stale:
        yield f"Of tools that the source has no more: {', '.join(written.stale)}"
    yield f"Protocols in {written.folder}; what is missing, and why, in {written.folder / READABLE}"
