"""`python -m toolflow_bench.recipes try SERVICE [RECIPE …]` and `python -m toolflow_bench.recipes build`."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from protocols.errors import AtcError
from sandbox.base import Sandbox
from sandbox.choose import open_sandbox
from toolflow_bench.checks.needed import idle_calls, unneeded
from toolflow_bench.derive import Data
from toolflow_bench.recipes.make import Made, make
from toolflow_bench.recipes.recipe import FOLDERS, Recipe, recipes_of
from toolflow_bench.services.service import NAMES
from toolflow_bench.task import GOLD, TASKS, to_document
from toolflow_bench.world import World


def main() -> int:
    """Exit status: 0 where every case is a task."""
    parser = argparse.ArgumentParser(prog="python -m toolflow_bench.recipes", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    one = verbs.add_parser("try", help="run recipes and say what is wrong with each; no file is written")
    one.add_argument("folder", choices=FOLDERS)
    one.add_argument("recipes", nargs="*", metavar="RECIPE", help="ids; none: all of the folder")
    one.add_argument("--quick", action="store_true", help="do not look whether every call is needed")
    every = verbs.add_parser("build", help="make the files of tasks anew")
    every.add_argument("--out", type=Path, default=TASKS)
    given = parser.parse_args()
    try:
        return _try(given.folder, given.recipes, quick=given.quick) if given.verb == "try" else _build(given.out)
    except AtcError as error:
        print(error, file=sys.stderr)
        return 3


def _try(folder: str, wanted: list[str], *, quick: bool) -> int:
    recipes = [recipe for recipe in recipes_of(folder) if not wanted or recipe.id in wanted]
    services = (folder,) if folder in NAMES else NAMES
    wrong, made = 0, []
    with World(services) as world, Data(services) as data, closing(open_sandbox("zygote")) as sandbox:
        _fill_up(world)
        for recipe, name, found in _each(folder, recipes, world, data, sandbox):
            if isinstance(found, AtcError):
                wrong += 1
                print(f"WRONG  {found}", flush=True)
                continue
            made.append(found)
            task = found.task
            print(
                f"ok     {name}: {task.calls} calls, {len(set(task.operations))} operations, depth {task.depth}, "
                f"pattern {task.pattern}, {task.type} {json.dumps(task.answer)[:100]}",
                flush=True,
            )
            for problem in [] if quick else _calls_for_show(found, world, sandbox):
                wrong += 1
                print(f"WRONG  {name}: {problem}", flush=True)
            if not _length_fits(found):
                wrong += 1
                print(f"WRONG  {name}: {task.calls} calls do not fit the split {recipe.split!r}")
    print(_totals(made))
    return 1 if wrong else 0


def _fill_up(world: World) -> None:
    """While services are still to come, the operations of others cannot be drawn as distractors; stand-ins are."""
    for number in range(40):
        world.owners.setdefault(f"operation_{number}", "elsewhere")


def _calls_for_show(found: Made, world: World, sandbox: Sandbox) -> Iterator[str]:
    task, run = found.task, found.run
    nothing_found = task.type == "none"
    yield from unneeded(task.program, task.question, run, world.toolbox, sandbox, nothing_found=nothing_found)
    idle = idle_calls(task.program, task.question, run, world.toolbox, sandbox)
    for number in idle:
        call = run.made[number]
        yield f"line {call.line}: call {number}, {call.tool}({json.dumps(dict(call.arguments))}), is for show"
    if task.split == "long" and not found.flow.carried - {word for word in found.flow.carried if word in task.question}:
        yield "no argument holds a text that only an earlier response had"


def _length_fits(found: Made) -> bool:
    return found.task.calls >= 7 if found.task.split == "long" else found.task.calls <= 6


def _totals(made: list[Made]) -> str:
    long = [one.task for one in made if one.task.split == "long"]
    used = Counter(operation for task in long for operation in set(task.operations))
    classes = Counter((one.task.calls + 1) // 2 for one in made if one.task.split == "short")
    patterns = Counter(one.task.pattern for one in made)
    lengths = ", ".join(f"{2 * c - 1}-{2 * c} calls: {n}" for c, n in sorted(classes.items()))
    woven = sum(len(set(task.operations)) >= 4 and task.depth >= 3 for task in long)
    writing, none = sum(task.writes for task in long), sum(task.type == "none" for task in long)
    lines = [
        f"{len(long)} long, {len(made) - len(long)} short ({lengths})",
        f"long with 4 operations and depth 3: {woven}; writing: {writing}; none: {none}",
        f"patterns with more than 4 tasks: {[p for p, n in patterns.items() if n > 4]}",
        f"operations of long tasks: {len(used)}; in one task only: {sorted(o for o, n in used.items() if n < 2)}",
    ]
    return "\n".join(lines)


def _build(out: Path) -> int:
    wrong = 0
    out.mkdir(parents=True, exist_ok=True)
    gold: list[str] = []
    with World() as world, Data() as data, closing(open_sandbox("zygote")) as sandbox:
        for folder in FOLDERS:
            lines: dict[str, list[str]] = {"long": [], "short": []}
            for _, _, found in _each(folder, list(recipes_of(folder)), world, data, sandbox):
                if isinstance(found, AtcError):
                    wrong += 1
                    print(f"WRONG  {found}", file=sys.stderr)
                    continue
                document = to_document(found.task)
                kept = {"id": found.task.id, **{key: document.pop(key) for key in ("program", "query")}}
                gold.append(json.dumps(kept, ensure_ascii=False) + "\n")
                lines[found.task.split].append(json.dumps(document, ensure_ascii=False))
            for split, texts in lines.items():
                if texts:
                    (out / f"{folder}-{split}.jsonl").write_text("\n".join(texts) + "\n", encoding="utf-8")
                print(f"{folder} {split}: {len(texts)} tasks")
    (GOLD if out == TASKS else out / "gold.json").write_text("".join(gold), encoding="utf-8")
    return 1 if wrong else 0


def _each(
    folder: str, recipes: list[Recipe], world: World, data: Data, sandbox: Sandbox
) -> Iterator[tuple[Recipe, str, Made | AtcError]]:
    for recipe in recipes:
        for number, case in enumerate(recipe.cases, start=1):
            name = f"{folder}/{recipe.id}-{number}"
            try:
                yield recipe, name, make(recipe, case, name, world=world, data=data, sandbox=sandbox)
            except AtcError as error:
                yield recipe, name, error


if __name__ == "__main__":
    sys.exit(main())
