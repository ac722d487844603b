"""What it costs to hold a model to a call while it writes: tokens a second, beside free replies.

    python benchmarks/decoding_overhead.py [--model smollm2] [--calls 12] [--tools 6] [--json]

Tasks and tools are ToolFlow's. A call is one reply under the grammar of calls of all tools; beside it a free reply to
the same prompt, cut at as many tokens. Each pair follows a request that has the prompt read, and takes turns in who
goes first. Seconds are the caller's: building and checking grammars, the way to the server and back are within. "In the
server" are its own figures for the tokens that it wrote. CPU seconds are those of both processes, which a busy machine
does not stretch. Each overhead is the median over the pairs: what share of the free tokens a second is lost.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Literal, get_args

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from atc.decode.formats import JSON_CALL  # noqa: E402
from atc.decode.grammar import call_grammar  # noqa: E402
from atc.decode.prompt import call_prompt  # noqa: E402
from atc.models.local import LocalModel  # noqa: E402
from protocols.ask import Completion, Message  # noqa: E402
from protocols.toolbox import Toolbox  # noqa: E402
from toolflow_bench.retrieval.data_toolflow import service_tools  # noqa: E402
from toolflow_bench.task import load_tasks  # noqa: E402

TEMPERATURE = 0.7
Clock = Literal["seconds", "served", "cpu"]
STUBS = 400
"""Tokens of documentation in a prompt."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a text took: tokens written, the caller's seconds, the server's for these tokens, and those of CPUs."""

    tokens: int
    seconds: float
    served: float
    cpu: float

    def rate(self, clock: Clock) -> float:
        seconds: float = getattr(self, clock)
        return self.tokens / seconds if seconds else 0.0


class Stopwatch:
    """A model whose replies are counted from `start` to `stop`."""

    def __init__(self, model: LocalModel) -> None:
        self.model = model
        self.start()

    def start(self) -> None:
        self._tokens, self._served = 0, 0.0
        self._cpu, self._began = cpu_seconds(), time.perf_counter()

    def stop(self) -> Cost:
        return Cost(self._tokens, time.perf_counter() - self._began, self._served, cpu_seconds() - self._cpu)

    def __call__(self, messages: Sequence[Message], **options: Any) -> Completion:
        reply = self.model(messages, **options)
        self._tokens += reply.output_tokens
        self._served += self.model.timings.get("predicted_ms", 0.0) / 1000
        return reply


def cpu_seconds() -> float:
    """Of this process and of its children that still run: llama.cpp is one. Linux alone tells."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    ticks = (Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[11:13] for child in children)
    return time.process_time() + sum(int(tick) for pair in ticks for tick in pair) / os.sysconf("SC_CLK_TCK")


def free(watch: Stopwatch, messages: Sequence[Message], tokens: int, seed: int) -> Cost:
    watch.start()
    watch(messages, temperature=TEMPERATURE, seed=seed, max_tokens=tokens)
    return watch.stop()


def call(watch: Stopwatch, messages: Sequence[Message], tools: Toolbox, seed: int) -> Cost:
    watch.start()
    watch(messages, grammar=call_grammar(tools, JSON_CALL).text, temperature=TEMPERATURE, seed=seed, max_tokens=200)
    return watch.stop()


def pairs(watch: Stopwatch, prompts: Sequence[Sequence[Message]], tools: Toolbox) -> Iterator[tuple[Cost, Cost]]:
    """For each prompt what a free reply took, and one that was held to a call."""
    tokens = 0
    for seed, messages in enumerate(prompts):
        watch(messages, max_tokens=1)  # reads the prompt
        if seed % 2 or not tokens:  # how long a free reply may be is known of the one before
            second = call(watch, messages, tools, seed)
            tokens = second.tokens
            yield free(watch, messages, tokens, seed), second
        else:
            first = free(watch, messages, tokens, seed)
            second = call(watch, messages, tools, seed)
            tokens = second.tokens
            yield first, second


def figures(taken: Sequence[tuple[Cost, Cost]]) -> dict[str, float | int]:
    found: dict[str, float | int] = {"pairs": len(taken), "tokens": sum(held.tokens for _, held in taken)}
    for clock in get_args(Clock):
        rates = [(free.rate(clock), held.rate(clock)) for free, held in taken]
        found |= {
            f"free_tokens_per_second_{clock}": round(median(free for free, _ in rates), 1),
            f"held_tokens_per_second_{clock}": round(median(held for _, held in rates), 1),
            f"overhead_percent_{clock}": round(100 * median(1 - held / free for free, held in rates if free), 1),
        }
    return found


def measured(model: LocalModel, args: argparse.Namespace) -> dict[str, Any]:
    """The same tools in all prompts: so they are read once, and only a task's words anew."""
    everything, watch = service_tools(), Stopwatch(model)
    tasks = load_tasks(split="short")[: args.calls]
    needed = dict.fromkeys(name for task in tasks for name in (*task.operations, *task.candidates))
    aliases = [alias for alias, tool in everything.items() if tool.protocol.name in needed]
    tools = everything.only(aliases[: args.tools])
    prompts = [call_prompt(task.question, tools, JSON_CALL, budget=STUBS) for task in tasks]
    return {"model": model.name, "calls": figures(list(pairs(watch, prompts, tools)))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--calls", type=int, default=12)
    parser.add_argument("--tools", type=int, default=6)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    with closing(LocalModel(args.model, threads=args.threads)) as model:
        found = measured(model, args)
    if args.json:
        print(json.dumps(found))
        return
    print(found.pop("model"))
    for what, row in found.items():
        print(f"{what}: {row['pairs']} pairs, {row['tokens']} tokens")
        for clock, said in (("seconds", "the caller's"), ("served", "in the server"), ("cpu", "CPU")):
            rates = [row[f"{kind}_tokens_per_second_{clock}"] for kind in ("free", "held")]
            print(
                f"  {said}: {rates[0]} free, {rates[1]} held tokens a second; {row[f'overhead_percent_{clock}']}% lost"
            )


if __name__ == "__main__":
    main()
