"""`atc doctor`: whether everything needed is here and works, by trying it."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib import metadata
from pathlib import Path
from statistics import median
from typing import Literal

import click

from atc.cli.main import EXTRAS
from atc.cli.options import json_option
from atc.cli.output import print_columns, print_json
from atc.cli.settings import load_config
from atc.cli.state import open_store
from atc.cli.wiring import require_flights
from atc.config import Config
from atc.models import openai
from atc.models.fetch import LOCAL_MODELS, whereabouts
from atc.models.llama import require_runtime
from protocols.errors import AtcError, ModelUnavailable, SourceUnavailable
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from sandbox.choose import NAMES, automatic, availability, open_sandbox
from sandbox.errors import SandboxUnavailable
from sandbox.journal import Journal
from sandbox.limits import Limits

_RUNS, _ENOUGH_MS = 6, 1000
State = Literal["ok", "missing", "failed"]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at. `missing` is no failure: it comes when it is needed, or can be installed."""

    name: str
    state: State
    detail: str


@click.command(epilog="Example: atc doctor --json")
@json_option
def doctor(*, as_json: bool) -> None:
    """Check that everything needed is here and works. Exit status 3 if something does not."""
    refusals: list[str] = []
    config, _ = load_config(on_refusal=refusals.append)
    checks = [*(Check("settings", "failed", sentence) for sentence in refusals), *_checks(config)]
    if as_json:
        print_json([asdict(check) for check in checks])
    else:
        print_columns(row for check in checks for row in _rows(check))
    sys.exit(3 if any(check.state == "failed" for check in checks) else 0)


def _rows(check: Check) -> Iterator[tuple[str, str, str]]:
    """A line for what is said of it, and for a sandbox one for each layer, which a terminal would cut off."""
    first, *others = check.detail.split("; ") if check.name.startswith("sandbox ") else [check.detail]
    yield check.name, check.state, first
    yield from (("", "", text) for text in others)


def _checks(config: Config) -> Iterator[Check]:
    yield Check("python", "ok", f"{platform.python_version()} at {sys.executable}")
    yield Check("platform", "ok", f"{platform.platform()}, {os.cpu_count()} cores")
    yield from _sandboxes()
    yield _tried("model", partial(_model, config))
    yield _tried("runs", partial(_runs, config))
    yield _tried("cache", partial(_cache, config.cache_dir))
    yield _tried("flights", partial(_flights, config.cache_dir))
    for extra, distributions in EXTRAS.items():
        yield _extra(extra, distributions)


def _tried(name: str, look: Callable[[], tuple[State, str]]) -> Check:
    try:
        return Check(name, *look())
    except (AtcError, OSError, ImportError) as error:
        return Check(name, "failed", " ".join(str(error).split()))


def _model(config: Config) -> tuple[State, str]:
    chosen = config.model
    if chosen is None and openai.configured():
        return "ok", f"the endpoint {openai.OpenAIModel().url}; 'atc models test' asks it"
    name = chosen or "local"
    if name not in LOCAL_MODELS:
        return "ok", f"{name}; 'atc models test' asks it"
    try:
        require_runtime()
    except ModelUnavailable as error:
        return "missing", str(error)
    state, where = whereabouts(name, folder=config.cache_dir / "models")
    if state == "file" and not Path(where).is_file():
        return "failed", f"ATC_MODEL_PATH names {where!r}, which is no file"
    return ("missing", f"{name}: {where}") if state == "not fetched" else ("ok", f"{name} at {where}")


def _runs(config: Config) -> tuple[State, str]:
    with open_store(config) as store:
        latest = store.list(1)
    return "ok", f"stored in {config.state_dir}" + (f", the latest is {latest[0].id}" if latest else ", none yet")


def _cache(folder: Path) -> tuple[State, str]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        return "failed", f"{folder} cannot be written ({error.strerror}); set ATC_CACHE_DIR to a folder that can"
    return "ok", str(folder)


def _flights(folder: Path) -> tuple[State, str]:
    try:
        require_flights()
    except SourceUnavailable as error:
        return "missing", str(error)
    from toolflow_bench.services.flights.data import DATABASE

    path = DATABASE.path(folder)
    return ("ok", f"data at {path}") if path.exists() else ("missing", "data is built when first used, in some seconds")


def _extra(extra: str, distributions: Iterable[str]) -> Check:
    found, absent = [], []
    for name in distributions:
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            absent.append(name)
    if absent:
        return Check(f"[{extra}]", "missing", f"{', '.join(absent)}: pip install 'automatic-tool-chain[{extra}]'")
    return Check(f"[{extra}]", "ok", ", ".join(found))


def _sandboxes() -> Iterator[Check]:
    """A check of each backend. One that this machine cannot have is `missing`.

    Where none of `auto` can be had, the first of them has `failed`.
    """
    checks = {name: _tried(f"sandbox {name}", partial(_sandbox, name)) for name in NAMES}
    chosen = next((name for name in automatic() if checks[name].state == "ok"), None)
    for name, check in checks.items():
        if name == chosen:
            first, _, rest = check.detail.partition("; ")
            yield replace(check, detail=f"{first}, auto takes this one; {rest}")
        else:
            yield replace(check, state="failed") if chosen is None and name == automatic()[0] else check


def _sandbox(name: str) -> tuple[State, str]:
    """What trying a backend gave: how long a program takes, and what protects from it."""
    if name == "trusted":
        return "ok", "no boundary: runs programs as you, for development only"
    if (reason := availability(name).reason) is not None:
        return "missing", reason
    with ExitStack() as stack:
        try:
            sandbox = open_sandbox(name)
            stack.callback(sandbox.close)
            taken = [_timed(sandbox)]
            while len(taken) < _RUNS and sum(taken) < _ENOUGH_MS:  # a container takes a second each time
                taken.append(_timed(sandbox))
        except SandboxUnavailable as error:
            return "missing", str(error)
    missing: dict[str, str] = dict(getattr(sandbox, "missing", {}))
    without = "".join(f"; without {layer} ({why})" for layer, why in missing.items())
    kind = "" if sandbox.boundary else "NO BOUNDARY; "
    times = f"print(1) in {median(taken[1:] or taken):.1f} ms, the first in {taken[0]:.0f} ms"
    return "ok", f"{kind}{times}; {'; '.join(sandbox.layers)}{without}"


def _timed(sandbox: Sandbox) -> float:
    """Milliseconds that a program of one line takes."""
    begun = time.perf_counter()
    trace = sandbox.run("print(1)", Toolbox(), limits=Limits(), journal=Journal())
    if trace.stdout != "1\n":
        why = trace.failure.message if trace.failure else f"it printed {trace.stdout!r}"
        raise AtcError(f"did not run print(1): {why}")
    return (time.perf_counter() - begun) * 1000
