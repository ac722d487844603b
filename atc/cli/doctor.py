"""`atc doctor`: check that everything that atc needs is installed, and works when it is tried."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import click

from atc.cli.errors import ExitCode
from atc.cli.extras import EXTRAS
from atc.cli.options import Verb, workers_option
from atc.cli.output import print_result
from atc.cli.wiring import SharedResources, open_store
from atc.core.config import Config
from atc.core.secret_values import with_secrets
from atc.core.setting_types import without_password
from atc.models import openai
from atc.models.llama import require_runtime
from atc.models.model_files import LOCAL_MODELS, locate_model
from atc.settings.reading import read_settings
from protocols.errors import AtcError, ModelUnavailable
from protocols.private_files import private_folder
from protocols.toolbox import Toolbox
from sandbox.base import SandboxUnavailable
from sandbox.choose import NAMES, automatic, availability, open_sandbox
from sandbox.journal import Journal
from sandbox.limits import Limits

Check = tuple[str, str, str]
"""The result of one check: its name, its state (`ok`, `missing` or `failed`) and details.

`missing` means that something is not installed or not configured here. Only `failed` makes the
command fail.
"""


@click.command(cls=Verb, examples=["atc doctor --json"])
@workers_option
def doctor(*, workers: str | None) -> None:
    """Check that everything needed is here and works. Exit status 3 if something does not."""
    config, _, refused = read_settings({"workers": workers})
    checks = ([("settings", "failed", refused)] if refused else []) + list(_run_checks(config))
    documents = [dict(zip(("name", "state", "detail"), check, strict=True)) for check in checks]
    print_result(
        documents, "\n".join(f"{name:<15}  {state:<7}  {detail}" for name, state, detail in checks)
    )
    failed = any(state == "failed" for _, state, _ in checks)
    sys.exit(ExitCode.ENVIRONMENT if failed else ExitCode.DONE)


def _run_checks(config: Config) -> Iterator[Check]:
    """Yield the results of all checks, except the check of the settings."""
    yield "python", "ok", f"{platform.python_version()} at {sys.executable}, {platform.platform()}"
    sandboxes = {name: _try_check(f"sandbox {name}", partial(_sandbox, name)) for name in NAMES}
    yield from sandboxes.values()
    chosen = next((name for name in automatic() if sandboxes[name][1] == "ok"), None)
    yield "sandbox", "ok" if chosen else "failed", f"auto takes {chosen or 'none of these'}"
    for name, problem in with_secrets(config)[1].items():
        yield name, "missing", problem
    yield _try_check("model", partial(_model, config))
    yield _try_check("runs", partial(_runs, config))
    yield _try_check("cache", partial(_cache, config.cache_dir))
    for extra, modules in EXTRAS.items():
        if lacking := ", ".join(filter(_is_missing, modules)):
            install = f"pip install 'automatic-tool-chain[{extra}]'"
            yield f"[{extra}]", "missing", f"{lacking}: {install}"
        else:
            yield f"[{extra}]", "ok", ", ".join(modules)
    if config.workers is not None or "RAY_ADDRESS" in os.environ:
        yield from _cluster(config)


def _try_check(name: str, find_details: Callable[[], str]) -> Check:
    """Run one check: call `find_details`, which raises an exception if something is wrong.

    The state is `ok` with the returned details, else `missing` or `failed` with the message.
    """
    try:
        return name, "ok", find_details()
    except (AtcError, OSError, ImportError) as error:
        missing = isinstance(error, ModelUnavailable | SandboxUnavailable)
        return name, "missing" if missing else "failed", " ".join(str(error).split())


def _cluster(config: Config) -> Iterator[Check]:
    """Yield the result for each node of the configured Ray cluster.

    If the cluster cannot be used, yield one failed check with the reason.
    """

    def require_boundary() -> None:
        with SharedResources(config, away=True) as shared:
            _ = shared.sandbox

    try:
        from atc.core.ray_pool import connect_cluster, nodes

        with connect_cluster(config.workers or "ray"):
            for host, has, problem in nodes(require_boundary):
                state = "failed" if problem else "ok"
                yield f"node {host}", state, f"{has}; {problem or 'has a sandbox'}"
    except (ImportError, AtcError) as error:
        yield "cluster", "failed", str(error)


def _is_missing(module: str) -> bool:
    """Return True if a module is not installed."""
    try:
        return find_spec(module) is None
    except ModuleNotFoundError:  # its package is not installed
        return True


def _sandbox(name: str) -> str:
    """Return how long a small program takes in a sandbox, and the sandbox's layers of isolation.

    Raises:
        SandboxUnavailable: The sandbox cannot be used here.
        OSError: The sandbox failed to run the program.
    """
    if name == "unconfined":
        return "no boundary: runs programs as you, for development only"
    if (reason := availability(name).reason) is not None:
        raise SandboxUnavailable(reason)
    with closing(open_sandbox(name)) as sandbox:
        for _ in range(2):  # the first waits for the backend to start
            trace = sandbox.run("print(1)", Toolbox(), limits=Limits(), journal=Journal())
    if trace.failure is not None:
        raise OSError(f"did not run print(1): {trace.failure.message}")
    missing = [f"without {layer} ({why})" for layer, why in getattr(sandbox, "missing", {}).items()]
    return f"print(1) in {trace.seconds * 1000:.1f} ms; {'; '.join([*sandbox.layers, *missing])}"


def _model(config: Config) -> str:
    """Return the name of the model in use, and where its file is.

    Raises:
        ModelUnavailable: The model is not downloaded, or the library that runs it is missing.
        OSError: The environment variable ATC_MODEL_PATH does not name a file.
    """
    name = config.model or (
        f"the endpoint {openai.OpenAIModel().url}" if openai.is_configured() else "local"
    )
    if name not in LOCAL_MODELS:
        return f"{name}; 'atc models test' asks it"
    require_runtime()
    state, where = locate_model(name, folder=config.cache_dir / "models")
    if state == "file" and not Path(where).is_file():
        raise OSError(f"ATC_MODEL_PATH names {where!r}, which is no file")
    if state == "not fetched":
        raise ModelUnavailable(f"{name}: {where}")
    return f"{name}: {where}"


def _runs(config: Config) -> str:
    """Return a text that says where runs are stored, and names the latest one."""
    with open_store(config) as store:
        latest = store.list(1)
    where = config.state_dir if config.store is None else without_password(config.store)
    newest = f"the latest is {latest[0].run_id}" if latest else "none yet"
    return f"stored in {where}, {newest}"


def _cache(folder: Path) -> str:
    """Return the path of the cache folder.

    Raises:
        OSError: The folder cannot be created, or no file can be written in it.
    """
    try:
        private_folder(folder)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise OSError(
            f"{folder} cannot be written ({error.strerror}); set ATC_CACHE_DIR to one that can"
        ) from error
    return str(folder)
