"""Probe tools of which little more than names is known, and compare the result with the truth.

Suites: 'toolflow' (reading operations of ToolFlow's services), 'writes' (all operations of these
services), 'real' (the services httpbin, kinto and glances, without their documents), 'bfcl' (BFCL's
classes as Python sources), 'registry' (services as published in the registries, with their own
documents). All calls of services use real HTTP.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
import requests
import yaml

from atc.cli.output import say
from atc.cli.probe_setup import open_model
from atc.settings.reading import load_config
from benchmarks.catalogues import CLASSES, INSTALL, protocol_of
from benchmarks.local import ATC, ROOT, free_port, measure_command, run_in_background
from benchmarks.probing.score import (
    ProbingResult,
    Row,
    SuiteOptions,
    links_of,
    probe_toolbox,
    rate,
    run_probing,
    score_tool,
    share,
    strip,
    sum_counts,
    sum_rows,
)
from benchmarks.runner import suite, track_progress
from probing.refusals import refusal_in
from protocols.client import Invoker, InvokeSettings
from protocols.errors import SourceUnavailable
from protocols.protocol import HttpBinding, ToolProtocol
from protocols.sources import load_tools
from protocols.sources.openapi import read_openapi
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from toolflow_bench.services.document import document
from toolflow_bench.services.serve import serve
from toolflow_bench.services.service import NAMES, find_service

SERVICES: Mapping[str, Any] = yaml.safe_load(
    Path(__file__).with_name("services.yaml").read_text(encoding="utf-8")
)
"""How to start and describe each third-party service, keyed by the service's name."""
_FORBIDDEN = r"being told which|not told which|one record, which it would|ends what others"
_MODULE = """import json
from pathlib import Path

from bfcl_eval.eval_checker.multi_turn_eval.func_source_code.{module} import {name}

api = {name}()
if hasattr(api, "_load_scenario"):
    api._load_scenario(json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8")))
names = [n for kind in reversed({name}.__mro__) for n in vars(kind)]
__all__ = [n for n in names if n[0] != "_" and callable(getattr(api, n))]
globals().update({{n: getattr(api, n) for n in __all__}})
"""


@contextmanager
def start_service(name: str, folder: Path) -> Iterator[str]:
    """Run a third-party service in `folder` while the context is open, and yield its address.

    Raises:
        SourceUnavailable: the service does not start.
    """
    service = SERVICES[name]
    port = free_port()
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in service.get("files", {}).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    filled = {"port": port, "folder": folder, "root": ROOT, "python": sys.executable}
    filled["moto"] = os.environ.get("MOTO_SERVER", "moto_server")
    command = [part.format(**filled) for part in service["command"]]
    with run_in_background(command, port=port, folder=folder, env={"PYTHONPATH": str(ROOT)}):
        yield f"http://127.0.0.1:{port}"


def probe_toolflow(name: str, options: SuiteOptions, *, writes: bool = False) -> Row:
    """Probe one of ToolFlow's services and return the measurements.

    If `writes` is False, only operations that read are probed.

    Raises:
        SourceUnavailable: the service's data or a package is missing.
    """
    service = find_service(name)
    folder = options.out / name
    with serve(service.app(service.database(options.cache))) as served:
        described = document(
            service.operations, info=service.info, schemas=service.schemas, server=served.url
        )
        declared = read_openapi(described, where=f"the {name} service")
        tools = {tool.name: tool for tool in declared if writes or not tool.writes}
        probing = run_probing(
            strip(tools.values()), folder, name=name, writes=writes, options=options
        )
    row = {"name": name, "tools": len(tools)}
    row |= sum_counts([score_tool(probing.protocols.get(n), tool) for n, tool in tools.items()])
    return row | {
        "links": rate(links_of(probing.protocols.values()), links_of(tools.values())),
        **probing.spent,
    }


def probe_real_service(name: str, options: SuiteOptions) -> Row:
    """Probe a third-party service without its document, and return the measurements.

    Raises:
        SourceUnavailable: the service does not start.
    """
    service = SERVICES[name]
    folder = options.out / name
    with start_service(name, folder / "run") as url:
        declared = requests.get(url + service["document"], timeout=60).json()
        tools = [
            tool
            for tool in read_openapi(declared, where=f"the document of {name}", base_url=url)
            if isinstance(tool.binding, HttpBinding)
            and tool.binding.url.removeprefix(url).rstrip("/") not in service["told"]
            and (service["writes"] or not tool.writes)
        ]
        probing = run_probing(
            strip(tools), folder / "probing", name=name, writes=service["writes"], options=options
        )
    return _row(name, probing, tools)


def probe_bfcl(name: str, options: SuiteOptions) -> Row:
    """Probe one of BFCL's classes and return the measurements.

    The class starts with the largest initial state that one of its tasks has.

    Raises:
        SourceUnavailable: the class cannot be imported.
    """
    spec = find_spec("bfcl_eval")
    if spec is None or not spec.submodule_search_locations:
        raise SourceUnavailable(f"the package 'bfcl-eval' is not installed: {INSTALL}")
    data = Path(spec.submodule_search_locations[0]) / "data"
    module = CLASSES[name]
    folder = options.out / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    documented = [
        protocol_of(tool) for tool in _json_lines(data / "multi_turn_func_doc" / f"{module}.json")
    ]
    names = {tool.name for tool in documented}
    tasks = [
        task
        for task in _json_lines(max(data.glob("*_multi_turn_base.json")))
        if name in task["involved_classes"]
    ]
    states = [json.dumps(task["initial_config"].get(name, {})) for task in tasks]
    (folder / f"{module}.json").write_text(max(states, key=len, default="{}"), encoding="utf-8")
    (folder / f"{module}.py").write_text(_MODULE.format(module=module, name=name), encoding="utf-8")
    with Invoker(InvokeSettings(retries=0)) as invoker:
        loaded = load_tools(f"{module}={folder / module}.py", invoker=invoker)
        calls = {tool.protocol.name: tool.call for tool in loaded.values()}
        given = strip(tool.protocol for tool in loaded.values() if tool.protocol.name in names)
        toolbox = Toolbox(Tool(protocol=one, call=calls[one.name], source=module) for one in given)
        probing = probe_toolbox(toolbox, folder, writes=True, options=options)
    return _row(name, probing, documented)


def _json_lines(path: Path) -> list[Any]:
    return [
        json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()
    ]


def _row(name: str, probing: ProbingResult, declared: Sequence[ToolProtocol]) -> Row:
    answered = {
        sample.tool for sample in probing.samples if sample.done and not refusal_in(sample.response)
    }
    # A tool that must not be called does not name a record, overwrites a single record, or ends
    # something that other calls need.
    unsent = probing.stopped.keys() - {sample.tool for sample in probing.samples}
    http = {tool.name: tool.binding for tool in declared if isinstance(tool.binding, HttpBinding)}
    whole = {
        name for name, one in http.items() if one.method == "DELETE" and not one.url.endswith("}")
    }  # deletes a whole collection
    forbidden = sorted(
        tool for tool in unsent if tool in whole or re.search(_FORBIDDEN, probing.stopped[tool])
    )
    scores = {}
    for tool in declared:
        score = score_tool(probing.protocols.get(tool.name), tool)
        documented = bool(score["documented"]["right"]) and tool.name in answered
        callable_ = share([] if tool.name in forbidden else [documented])
        scores[tool.name] = score | {
            "documented": share([documented]),
            "documented_of_callable": callable_,
        }
    row = {"name": name, "tools": len(declared), **sum_counts(list(scores.values()))}
    links = rate(links_of(probing.protocols.values()), ())
    return row | {"links": links, **probing.spent, "forbidden": ", ".join(forbidden)}


_VOLATILE = frozenset({"last_activity", "last_modified", "etag"})
"""Fields that change by themselves, or when another record is created inside their record."""


def probe_registry(unit: str, options: SuiteOptions) -> Row:
    """Start a service, probe it with `atc probe`, and count the records that are left behind.

    In the result, `left` counts created records that the probe reports as not removed, `unnamed`
    new records that it does not report, and `foreign` earlier records that were changed or removed.

    Raises:
        SourceUnavailable: the service does not start.
    """
    service = SERVICES[unit]
    folder = options.out / unit
    shutil.rmtree(folder, ignore_errors=True)
    with start_service(unit, folder) as url:
        for path, body in service.get("makes", {}).items():
            requests.put(url + path, json=body, timeout=30).raise_for_status()
        before = _service_records(url, service["shows"])
        source = folder / "bare.json"
        if "document" in service:
            source = folder / f"document{Path(service['document']).suffix or '.json'}"
            source.write_bytes(requests.get(url + service["document"], timeout=60).content)
        else:
            source.write_text(
                json.dumps(
                    {name: _bare_description(call, url) for name, call in service["tools"].items()}
                )
            )
        source_ = f"{source}@{url}" if "document" in service else str(source)
        report_ = folder / "report.json"
        flags = ["--allow-writes", "--json", "--model", options.model, "--rate", "1000"]
        flags += ["--per-tool", str(options.per_tool)]
        command = [sys.executable, *ATC, "probe", source_, "-o", str(folder / "out"), *flags]
        spent = measure_command(command, ROOT, report_)
        report = json.loads(report_.read_bytes())
        after = _service_records(url, service["shows"])
    named = {text for one in report["made"] for text in (*one["ids"], *one["marks"])}
    fresh = [one for key, one in after.items() if key not in before]
    totals = report["totals"]
    left = sum(not one["removed"] for one in report["made"])
    row = {
        "name": unit,
        "tools": totals["tools"],
        "documented": totals["answered"],
        "fields": totals["fields"],
    }
    row |= {
        "links": totals["links"],
        "calls": report["sent"],
        "seconds": spent["seconds"],
        "cpu_seconds": spent["cpu"],
    }
    row |= {"made": len(report["made"]), "left": left}
    texts = map(json.dumps, fresh)
    unnamed = sum(not any(map(text.__contains__, named)) for text in texts)
    return row | {
        "unnamed": unnamed,
        "foreign": sum(after.get(key) != one for key, one in before.items()),
    }


def _bare_description(call: str, url: str) -> Any:
    method, path, *names = call.split()
    return (
        {"url": url + path, "method": method, "arguments": names}
        if names
        else f"{method} {url}{path}"
    )


def _service_records(url: str, paths: Sequence[str]) -> dict[str, Any]:
    """Return the records that a service lists, keyed by path and id."""
    found: dict[str, Any] = {}
    for path in paths:
        body = requests.get(url + path, timeout=60).json()
        inner = (
            [part for part in body.values() if isinstance(part, list)]
            if isinstance(body, dict)
            else [body]
        )
        listed = [record for part in inner for record in part]
        for record in listed if listed or isinstance(body, list) else [body]:
            one = {
                k: v for k, v in record.items() if k not in _VOLATILE and not isinstance(v, list)
            }
            found[f"{path} {one.get('id', one.get('path', one.get('name', '')))}"] = one
    return found


MEASURES: dict[str, Callable[[str, SuiteOptions], Row]] = {
    "toolflow": probe_toolflow,
    "writes": partial(probe_toolflow, writes=True),
    "real": probe_real_service,
    "bfcl": probe_bfcl,
    "registry": probe_registry,
}


def units(name: str) -> Sequence[str]:
    """Return the names of the services or classes that a suite measures separately."""
    if name in ("toolflow", "writes"):
        return NAMES
    if name == "bfcl":
        return list(CLASSES) if find_spec("bfcl_eval") else []
    if name == "real":
        return [one for one, service in SERVICES.items() if "told" in service and find_spec(one)]
    return [one for one, service in SERVICES.items() if "shows" in service]


@suite
@click.option(
    "--suite",
    "chosen",
    multiple=True,
    type=click.Choice(list(MEASURES)),
    help="Repeatable. Default: all.",
)
@click.option("--services", multiple=True, metavar="NAME", help="These services alone; repeatable.")
@click.option(
    "--model",
    default="none",
    show_default=True,
    help="Who suggests: none, 'local', or a model's name.",
)
@click.option(
    "--calls",
    type=click.IntRange(1),
    default=15,
    show_default=True,
    help="Calls of one tool, at most.",
)
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="Folder of the probed protocols."
)
def main(
    chosen: tuple[str, ...], services: tuple[str, ...], model: str, calls: int, out: Path | None
) -> dict[str, Any]:
    config = load_config({"model": model})
    folder = out or config.state_dir / "bench" / "probing"
    say(f"probing: protocols go to {folder}")
    parts = {}
    with open_model(config) as ask:
        options = SuiteOptions(
            out=folder, cache=config.cache_dir, per_tool=calls, model=model, ask=ask
        )
        for name in chosen or MEASURES:
            mine = [one for one in units(name) if one in services or not services]
            own = replace(options, out=folder / name)
            rows = {
                unit: MEASURES[name](unit, own)
                for unit in track_progress(name, mine, total=len(mine))
            }
            left = {"unnamed": 0, "foreign": 0}
            for row in rows.values():
                left = {key: count + row.get(key, 0) for key, count in left.items()}
            total = sum_rows(list(rows.values())) if rows and name != "registry" else {}
            if name == "registry":
                total = left
            parts[name] = {"units": rows, "total": total}
    return {"suite": "probing", "model": model, **parts}


if __name__ == "__main__":
    main()
