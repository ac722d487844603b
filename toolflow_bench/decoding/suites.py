"""The suites of decoding by name; each is imported when it is run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

from toolflow_bench.decoding.frame import Report

SUITES: Mapping[str, str] = {
    "funcqa": "toolflow_bench.decoding.funcqa.suite:run",
    "kamel": "toolflow_bench.decoding.kamel.suite:run",
    "restbench": "toolflow_bench.decoding.restbench.suite:run",
    "random": "toolflow_bench.decoding.random:run",
}
"""Name → `module:function`; the function takes `Wanted`, `OpenModel`, `Config`, `Watch` and `Say`."""

Run = Callable[..., Report]


def find_suite(name: str) -> Run:
    """The function that runs a suite of `SUITES`."""
    module, _, function = SUITES[name].partition(":")
    run: Run = getattr(import_module(module), function)
    return run
