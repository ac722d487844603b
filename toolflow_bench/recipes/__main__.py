"""`python -m toolflow_bench.recipes build` builds the task files.

The exit status is 1 if a case is invalid.
"""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import closing

from protocols.errors import AtcError
from sandbox.choose import open_sandbox
from toolflow_bench.derive import ServiceDatabases
from toolflow_bench.recipes.make import make_task
from toolflow_bench.recipes.recipe import FOLDERS, recipes_of
from toolflow_bench.task import GOLD, TASKS, to_document
from toolflow_bench.world import World


def main() -> int:
    """Build the task files of all folders; return the exit status.

    All gold programs and queries go into one separate file.
    """
    parser = argparse.ArgumentParser(prog="python -m toolflow_bench.recipes", description=__doc__)
    parser.add_argument("verb", choices=["build"])
    parser.parse_args()
    gold: list[str] = []
    wrong = 0
    with (
        World() as world,
        closing(ServiceDatabases()) as data,
        closing(open_sandbox("zygote")) as sandbox,
    ):
        for folder in FOLDERS:
            lines: dict[str, list[str]] = {}
            cases = [
                (one, n, case)
                for one in recipes_of(folder)
                for n, case in enumerate(one.cases, start=1)
            ]
            for recipe, number, case in cases:
                name = f"{folder}/{recipe.id}-{number}"
                try:
                    task = make_task(
                        recipe, case, name, world=world, data=data, sandbox=sandbox
                    ).task
                except AtcError as error:
                    wrong += 1
                    print(f"WRONG  {error}", file=sys.stderr)
                    continue
                document = to_document(task)
                gold.append(
                    _line({"id": name, **{key: document.pop(key) for key in ("program", "query")}})
                )
                lines.setdefault(task.split, []).append(_line(document))
            for split, texts in lines.items():
                (TASKS / f"{folder}-{split}.jsonl").write_text("".join(texts), encoding="utf-8")
                print(f"{folder} {split}: {len(texts)} tasks")
    GOLD.write_text("".join(gold), encoding="utf-8")
    return 1 if wrong else 0


def _line(document: object) -> str:
    return json.dumps(document, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.exit(main())
