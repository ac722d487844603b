"""Runs and replays of ToolFlow's gold programs, and a count of questions to a person during writes.

Each sampled task is run with its gold program on the real services. The stored run is exported as a
recording and replayed without the services. The replay must make the same calls and give the same
answer. Then the gold programs of *all* tasks that write are run with a person who can be asked. No
question is needed, because these programs do only what their tasks ask for. The exit status is 1 if
a run is not solved, a replay departs from its recording, or the person is asked.
"""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import click

from atc.archive.recording import Replayer, make_recording
from atc.archive.recording.document import parse_recording, to_document
from atc.store import Store
from benchmarks.injection.__main__ import count_needless_questions
from benchmarks.runner import scripted_agent, suite
from sandbox.base import Sandbox
from sandbox.choose import open_sandbox
from toolflow_bench.suites import services_of
from toolflow_bench.task import Task, load_tasks
from toolflow_bench.world import World


def replay(tasks: Sequence[Task], sandbox: Sandbox) -> list[str]:
    """Run the tasks' gold programs and replay the runs. Return a description of each failure."""
    problems = []
    with (
        World(services_of(tasks)) as world,
        tempfile.TemporaryDirectory() as folder,
        Store(Path(folder) / "runs.sqlite") as store,
        Replayer("zygote") as replayer,
    ):
        for task in tasks:
            world.reset()
            toolbox = world.toolbox.only(task.candidates)
            agent = scripted_agent(
                toolbox, sandbox, task.program, store=store, ask_person=lambda _: True
            )
            solution = agent.run(task.question, seed=0)
            written = json.dumps(to_document(make_recording(store.load("last"))))
            verdict = replayer.rerun(parse_recording(written, where=task.id))
            if solution.status != "solved":
                problems.append(f"{task.id}: {solution.status}")
            if verdict.departure is not None:
                problems.append(f"{task.id}: {verdict.departure}")
    return problems


@suite
@click.option("--tasks", "count", default=160, show_default=True, help="Tasks to run and replay.")
@click.option("--seed", default=0, show_default=True, help="Of the sample.")
def main(count: int, seed: int) -> dict[str, Any]:
    every = load_tasks()
    sample = random.Random(seed).sample(every, min(count, len(every)))
    writing = [task for task in every if task.writes]
    with closing(open_sandbox("zygote")) as sandbox, World(services_of(writing)) as world:
        problems = replay(sample, sandbox)
        questions = {
            arm: count_needless_questions(writing, world, sandbox=sandbox, arm=arm)
            for arm in ("first", "repaired")
        }
    found = {
        "passed": not problems and not any(of["asking"] for of in questions.values()),
        "problems": problems,
    }
    return {"suite": "gold_replay", "replayed": len(sample), **found, "questions": questions}


if __name__ == "__main__":
    main()
