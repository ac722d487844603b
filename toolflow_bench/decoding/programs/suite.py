"""The suite `programs`: the same questions, programs written freely and held to what may follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing

from atc.config import Config
from sandbox.base import Sandbox
from toolflow_bench.decoding.data import digest
from toolflow_bench.decoding.frame import Arm, OpenModel, Say, Wanted, Watch, run_arms
from toolflow_bench.decoding.programs.ask import SAMPLE, ProgramCase, Workers, cases, services, settings, workers
from toolflow_bench.decoding.programs.figures import ProgramReport
from toolflow_bench.metrics import Row
from toolflow_bench.runner import ask_item
from toolflow_bench.workers import OpenWorld

_MODES = ("free",)


def run(wanted: Wanted, open_model: OpenModel, config: Config, watch: Watch, say: Say) -> ProgramReport:
    """Ask `wanted.sample` questions about flights and as many short tasks (10 each) in each mode, with each model.

    Raises:
        InvalidTask: the questions are not there, or there is no such mode.
        ModelUnavailable: a model cannot be had.
        SandboxUnavailable: programs cannot be run.
    """
    from sandbox.choose import open_sandbox
    from toolflow_bench.world import World

    some = cases(sample=wanted.sample or SAMPLE, seed=wanted.seed, data=wanted.data)
    names = services(some)
    with closing(open_sandbox(config.sandbox, policy=config.policy)) as sandbox:
        return measure(
            some,
            wanted,
            open_model,
            config,
            watch,
            open_world=lambda: World(names, folder=config.cache_dir, announce=say),
            sandbox=sandbox,
        )


def measure(
    some: Sequence[ProgramCase],
    wanted: Wanted,
    open_model: OpenModel,
    config: Config,
    watch: Watch,
    *,
    open_world: OpenWorld,
    sandbox: Sandbox,
) -> ProgramReport:
    """Ask `some` in each mode and documentation, one model after another.

    Raises:
        InvalidTask: there is no such mode.
        InvalidRunFile: a file of rows holds another run, or cannot be written.
    """
    ways = [(mode, docs) for docs in wanted.docs or ("full",) for mode in wanted.modes or _MODES]
    data = digest(some, [dict(settings(mode)) for mode, _ in ways])
    rows: dict[Arm, list[Row]] = {}
    for model in wanted.models or (config.model or "local",):
        arms = [Arm(suite="programs", model=model, mode=mode, docs=docs) for mode, docs in ways]
        with open_model(model) as ask, workers(ways, open_world, ask=ask, sandbox=sandbox, config=config) as known:

            def answer(arm: Arm, case: ProgramCase, beside: Mapping[str, Row], known: Workers = known) -> Row:  # noqa: ARG001 - the shape of an Answer
                worker = known[arm.mode, arm.docs]
                return ask_item(case.item, worker, seed=wanted.seed, repeat=0, timeout_seconds=wanted.timeout)

            rows |= run_arms(arms, some, answer, wanted, data=data, watch=watch)
    return ProgramReport(rows=rows, seed=wanted.seed)
