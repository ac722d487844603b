"""`atc probe --check`: what has changed since a folder was probed, and which stored runs that breaks."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from atc.check import check
from atc.cli.output import error_document, print_result, say
from atc.cli.probe_report import probing_bar
from atc.cli.wiring import open_store
from atc.config import Config
from atc.recording import RecordedTools
from atc.store import RunStore
from atc.store.stored import RunSummary, StoredRun
from atc.terminal import clipped, count
from atc.types import Finding
from probing.drift import CALLS, Checked, earlier_samples, recheck
from probing.gate import plan
from probing.samples import Log, ProbeSettings
from protocols.protocol import ToolProtocol
from protocols.toolbox import Toolbox

_WIDTH = 200
"""Characters of a finding that are shown; --json has all."""


def check_again(source: str, tools: Toolbox, config: Config, settings: ProbeSettings, *, as_json: bool) -> int:
    """Sample the tools of a probed folder again, print what changed, and give the exit code: 1 where something breaks.

    Raises:
        LogUnreadable: the folder's log cannot be read.
    """
    earlier = earlier_samples(Path(source)) if Path(source).is_dir() else []
    planned = plan(tools, settings)
    most = min(planned.total, CALLS * sum(bool(tool.at_most) for tool in planned.tools))
    # A log of its own: what the folder's log has would be answered from there.
    with (
        TemporaryDirectory(prefix="atc-check-") as folder,
        Log(Path(folder)) as log,
        probing_bar(log, most) as watch,
        redirect_stdout(sys.stderr),
    ):
        checked = recheck(tools, log, settings=settings, earlier=earlier, watch=watch)
    with open_store(config) as store:
        broken = list(_broken_runs(store, checked.old, checked.new))
    problem = "" if checked.breaking or checked.calls else "Nothing could be checked."
    document = {
        "breaking": bool(checked.breaking),
        "changes": [asdict(change) for change in checked.changes],
        "broken_runs": [{"run": run.id, "task": run.task, "tools": t, "findings": list(map(asdict, found))}
                        for run, t, found in broken],
        "unchecked": dict(checked.unchecked),
        "calls": checked.calls,
    } | (error_document(problem, 3) if problem else {})  # fmt: skip
    print_result(document, "\n".join(_check_lines(checked, broken)), as_json=as_json)
    if problem:
        say(problem)
    return 1 if checked.breaking else 3 if problem else 0


_Broken = tuple[RunSummary, list[str], list[Finding]]
"""A stored run whose last program would not work any more, the changed tools that it calls, what the check finds."""


def _broken_runs(
    store: RunStore, old: Mapping[str, ToolProtocol], new: Mapping[str, ToolProtocol]
) -> Iterator[_Broken]:
    """The stored runs that the step from `old` to `new` breaks, newest first; both by the tools' own names."""
    changed = {name: protocol for name, protocol in old.items() if new.get(name) != protocol}
    for summary in store.list(None) if changed else ():
        run = store.load(summary.id)
        # Of several services that have a tool of this name, the same.
        called = {
            alias: one.name for alias, one in run.protocols.items()
            if one.name in changed and (not one.binding or changed[one.name].binding in (None, one.binding))
        }  # fmt: skip
        if called and run.attempts:
            before, after = (_certain(run, called, protocols) for protocols in (old, new))
            if findings := [finding for finding in after if finding not in before]:
                yield run.summary, list(dict.fromkeys(called.values())), findings


def _certain(run: StoredRun, called: Mapping[str, str], protocols: Mapping[str, ToolProtocol]) -> list[Finding]:
    """What is certainly wrong with a run's last program, with the tools that it called as they are in `protocols`.

    A tool that is gone is not among them. What was observed is taken at its word here: the check itself holds no
    observed key against a program, but a key that was there and is gone breaks it.
    """
    kept = {alias: protocol for alias, protocol in run.protocols.items() if alias not in called}
    current = {alias: protocols[name] for alias, name in called.items() if name in protocols}
    taken = {a: replace(one, evidence=replace(one.evidence, level="declared")) for a, one in current.items()}
    findings = check(run.attempts[-1].program, RecordedTools(kept | taken))
    return [finding for finding in findings if finding.certain]


def _check_lines(checked: Checked, broken: Sequence[_Broken]) -> Iterator[str]:
    for change in checked.changes:
        yield f"{change.severity:<9} {change.tool}: {change.text}"
    for run, _, findings in broken:
        yield f"breaks    run {run.id} ({clipped(' '.join(run.task.split()), 80)})"
        for finding in findings:
            yield f"          line {finding.line}: {clipped(' '.join(finding.message.split()), _WIDTH)}"
    for tool, why in checked.unchecked.items():
        yield f"unchecked {tool}: {why.rstrip('.')}"
    seen = len(checked.old) - len(checked.unchecked)
    kinds = [f"{sum(c.severity == kind for c in checked.changes)} {kind}" for kind in ("breaking", "risky", "harmless")]
    changes = f"{count(len(checked.changes), 'change')} ({', '.join(kinds)})" if checked.changes else "no change"
    runs = f", {count(len(broken), 'stored run')} broken" if broken else ""
    yield f"{changes} in {seen} of {count(len(checked.old), 'tool')} with {count(checked.calls, 'call')}{runs}"
