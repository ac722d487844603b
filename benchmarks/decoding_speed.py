"""How long a mask takes, and what it costs to build what gives it, beside one grammar of all names and ToolDec's way.

    python benchmarks/decoding_speed.py [--vocabulary FILE.gguf] [--names 16000] [--many 1000000] [--json]

The vocabulary is the small local model's (49,152 tokens). Masks are taken along calls and programs that are really
written: calls that gold programs of ToolFlow make, gold programs of its short tasks as far as their lines are in
the subset, and programs drawn with random logits. Wall time, and CPU time of the thread, which a busy machine does not
stretch. Each build has a process of its own, so that its memory is its own. "ToolDec's way" is our few lines of what
its published code does: at each step every token of the vocabulary is put behind what is written, and the text looked
up among the names' beginnings.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from atc.decode.vocabulary import Vocabulary  # noqa: E402
from atc.models.fetch import weights  # noqa: E402
from benchmarks.decoding_builds import build, build_names, one_grammar, tooldec_way  # noqa: E402
from benchmarks.decoding_masks import arguments_of_one, masks_of_calls, masks_of_programs  # noqa: E402
from toolflow_bench.retrieval.data_toolflow import service_tools  # noqa: E402

STAGES: dict[str, Callable[[Vocabulary, argparse.Namespace], dict[str, Any]]] = {
    "calls": lambda vocabulary, _: masks_of_calls(vocabulary, service_tools()),
    "programs": lambda vocabulary, _: masks_of_programs(vocabulary, service_tools()),
    "arguments of one tool": lambda vocabulary, _: arguments_of_one(vocabulary, service_tools()),
    "build": lambda vocabulary, args: build(vocabulary, args.names),
    "build, many": lambda vocabulary, args: build_names(vocabulary, args.many),
    "one grammar of all names": lambda vocabulary, args: one_grammar(vocabulary, args.names),
    "ToolDec's way": lambda vocabulary, args: tooldec_way(vocabulary, args.names),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vocabulary", type=Path)
    parser.add_argument("--names", type=int, default=16_000)
    parser.add_argument("--many", type=int, default=1_000_000)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--stage", choices=STAGES, action="append", help="This part alone; repeatable.")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.here:
        vocabulary = Vocabulary.from_gguf(args.vocabulary or weights("smollm2"))
        print(json.dumps(STAGES[args.stage[0]](vocabulary, args)))
        return
    figures: dict[str, Any] = {}
    options = ["--names", str(args.names), "--many", str(args.many)]
    options += ["--vocabulary", str(args.vocabulary)] if args.vocabulary else []
    for stage in args.stage or STAGES:
        begun = time.monotonic()
        command = [sys.executable, __file__, *options, "--stage", stage, "--here"]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        failed = {"failed": ran.stderr.strip().splitlines()[-1:]}
        figures[stage] = failed if ran.returncode else json.loads(ran.stdout)
        figures[stage]["stage_seconds"] = round(time.monotonic() - begun, 1)
        if not args.json:
            print(
                f"{stage}\n" + "\n".join(f"  {name:32} {value}" for name, value in figures[stage].items()), flush=True
            )
    if args.json:
        print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
