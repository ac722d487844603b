"""The suite `registry`: services as they come from npm and PyPI, probed by `atc probe` with writes.

What is there is read before and after: records that somebody else made must be as they were, and what is new must stand
in the report.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import requests

from benchmarks.local import ATC, ROOT
from benchmarks.probing.runs import Options
from benchmarks.probing.score import Row
from benchmarks.probing.suites import SERVICES, started

_VOLATILE = frozenset({"last_activity", "last_modified", "etag"})
"""Fields that change by themselves, and of what holds other things when something is made there."""


def measure(unit: str, options: Options) -> Row:
    """Start a service, probe it, and see what it left.

    Raises:
        SourceUnavailable: it does not start.
    """
    service, folder = SERVICES[unit], options.out / unit
    shutil.rmtree(folder, ignore_errors=True)
    with started(unit, folder) as url:
        for path, body in service.get("makes", {}).items():
            requests.put(url + path, json=body, timeout=30).raise_for_status()
        before = _shown(url, service["shows"])
        source = folder / "bare.json"
        if "document" in service:
            source = folder / f"document{Path(service['document']).suffix or '.json'}"
            source.write_bytes(requests.get(url + service["document"], timeout=60).content)
        else:
            source.write_text(json.dumps({name: _bare(call, url) for name, call in service["tools"].items()}))
        report, cpu = _probed(f"{source}@{url}" if "document" in service else str(source), folder / "out", options)
        after = _shown(url, service["shows"])
    named = {text for one in report["made"] for text in (*one["ids"], *one["marks"])}
    fresh = [one for key, one in after.items() if key not in before]
    return {
        "name": unit,
        "tools": report["totals"]["tools"],
        "documented": report["totals"]["answered"],
        **{key: report["totals"][key] for key in ("fields", "links")},
        "calls": report["sent"],
        **cpu,
        "made": len(report["made"]),
        "left": sum(not one["removed"] for one in report["made"]),
        "unnamed": sum(not any(name in json.dumps(one) for name in named) for one in fresh),
        "foreign": sum(after.get(key) != one for key, one in before.items()),
    }


def _bare(call: str, url: str) -> Any:
    method, path, *names = call.split()
    return {"url": url + path, "method": method, "arguments": names} if names else f"{method} {url}{path}"


def _probed(source: str, out: Path, options: Options) -> tuple[Any, Row]:
    """The report of `atc probe`, with its seconds and those of the CPU."""
    flags = ["--allow-writes", "--json", "--model", options.model, "--rate", "1000"]
    flags += ["--per-tool", str(options.per_tool)]
    command = [sys.executable, *ATC, "probe", source, "-o", str(out), *flags]
    began = time.perf_counter()
    with (out.parent / "report.json").open("wb") as said, (out.parent / "probe.log").open("wb") as told:
        process = subprocess.Popen(command, cwd=ROOT, stdout=said, stderr=told)
        _, _, spent = os.wait4(process.pid, 0)
    seconds, cpu = round(time.perf_counter() - began, 1), round(spent.ru_utime + spent.ru_stime, 1)
    return json.loads((out.parent / "report.json").read_bytes()), {"seconds": seconds, "cpu_seconds": cpu}


def _shown(url: str, paths: Sequence[str]) -> dict[str, Any]:
    """The records that a service shows, each by where it stands and its id."""
    found: dict[str, Any] = {}
    for path in paths:
        body = requests.get(url + path, timeout=60).json()
        inner = [part for part in body.values() if isinstance(part, list)] if isinstance(body, dict) else [body]
        listed = [record for part in inner for record in part]
        for record in listed if listed or isinstance(body, list) else [body]:
            one = {k: v for k, v in record.items() if k not in _VOLATILE and not isinstance(v, list)}
            found[f"{path} {one.get('id', one.get('path', one.get('name', '')))}"] = one
    return found
