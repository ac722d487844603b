"""`atc probe --check DIR`: what of the live tools is not as the protocols in a folder say, and whom that breaks."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from atc.cli.output import clipped, count, error_document, print_json, print_text, say, stderr_console
from atc.cli.probe_broken import Broken, broken_runs
from atc.cli.probe_setup import SETTINGS, open_source, settings_of
from atc.cli.probe_view import ProbeView
from atc.cli.settings import load_config
from atc.cli.wiring import open_store
from atc.config import Config
from probing.drift.recheck import CALLS, Checked, earlier_samples, recheck
from probing.gate.plan import plan
from probing.log import Log
from probing.settings import ProbeSettings
from protocols.toolbox import Toolbox

_WIDTH = 200


def check_folder(source: str, *, modules: Sequence[str], as_json: bool, **flags: Any) -> int:
    """Sample the tools of a probed folder again, print what changed, and give the exit code: 1 where something breaks.

    Raises:
        SourceUnavailable, InvalidProtocol, LogUnreadable: the folder cannot be read.
    """
    config = load_config({key: flags[key] for key in SETTINGS} | {"tools": (source, *modules)})[0]
    settings = settings_of(flags)
    with open_source(source, config, settings, modules=modules) as loaded:
        earlier = earlier_samples(Path(source)) if Path(source).is_dir() else []
        # A log of its own: what the folder's log has would be answered from there.
        with TemporaryDirectory(prefix="atc-check-") as folder, Log(Path(folder)) as log:
            checked = _checked(loaded.tools, log, settings, earlier)
    broken = _broken(config, checked)
    problem = "" if checked.breaking or checked.calls else "Nothing could be checked."
    if as_json:
        print_json({**_document(checked, broken), **(error_document(problem, 3) if problem else {})})
    else:
        print_text("\n".join(_lines(checked, broken)))
    if checked.breaking:
        return 1
    if problem:
        say(problem)
        return 3
    return 0


def _checked(tools: Toolbox, log: Log, settings: ProbeSettings, earlier: Sequence[Any]) -> Checked:
    planned = plan(tools, settings)
    most = min(planned.total, CALLS * sum(bool(tool.at_most) for tool in planned.tools))
    view = ProbeView(stderr_console(), sent=lambda: log.sent, most=most)
    with view, redirect_stdout(sys.stderr):
        return recheck(tools, log, settings=settings, earlier=earlier, watch=view)


def _broken(config: Config, checked: Checked) -> list[Broken]:
    gone = {change.tool for change in checked.changes if change.kind == "gone" and change.severity == "breaking"}
    now = {name: protocol for name, protocol in checked.new.items() if name not in gone}
    with open_store(config) as store:
        return list(broken_runs(store, checked.old, now))


def _document(checked: Checked, broken: Sequence[Broken]) -> Mapping[str, Any]:
    return {
        "breaking": bool(checked.breaking),
        "changes": [asdict(change) for change in checked.changes],
        "broken_runs": [asdict(one) for one in broken],
        "unchecked": dict(checked.unchecked),
        "calls": checked.calls,
    }


def _lines(checked: Checked, broken: Sequence[Broken]) -> Iterator[str]:
    for change in checked.changes:
        yield f"{change.severity:<9} {change.tool}: {change.text}"
    for one in broken:
        yield f"breaks    run {one.run} ({clipped(' '.join(one.task.split()), 80)})"
        for finding in one.findings:
            yield f"          line {finding.line}: {clipped(' '.join(finding.message.split()), _WIDTH)}"
    for tool, why in checked.unchecked.items():
        yield f"unchecked {tool}: {why.rstrip('.')}"
    seen = len(checked.old) - len(checked.unchecked)
    kinds = [f"{sum(c.severity == kind for c in checked.changes)} {kind}" for kind in ("breaking", "risky", "harmless")]
    changes = f"{count(len(checked.changes), 'change')} ({', '.join(kinds)})" if checked.changes else "no change"
    runs = f", {count(len(broken), 'stored run')} broken" if broken else ""
    yield f"{changes} in {seen} of {count(len(checked.old), 'tool')} with {count(checked.calls, 'call')}{runs}"
