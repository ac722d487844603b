"""What an automaton over very many names costs to build, one grammar of them all, and ToolDec's way, for comparison."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

from atc.decode.arguments import names_grammar
from atc.decode.automaton import ToolAutomaton
from atc.decode.formats import FUNCTION
from atc.decode.lark import lark
from atc.decode.matcher import Matcher
from atc.decode.trie import NameTrie
from atc.decode.vocabulary import Vocabulary
from benchmarks.decoding_masks import REPEATS, Stopwatch, along, follow
from protocols.jsontypes import Json, JsonObject
from protocols.protocol import ToolProtocol
from protocols.toolbox import Tool, Toolbox
from toolflow_bench.retrieval.data_toolflow import service_tools


def made_up_names(count: int) -> list[str]:
    """Names of tools: words of real ones, crossed."""
    words = sorted({word for alias in service_tools() for word in alias.split("_")})
    rng = random.Random(0)
    names: dict[str, None] = {}
    while len(names) < count:
        name = "_".join(rng.choices(words, k=rng.randrange(2, 5)))
        names[name if name not in names else f"{name}_{len(names)}"] = None
    return list(names)


def _nothing(arguments: JsonObject) -> Json:  # noqa: ARG001 - the shape of a call
    return None


def catalogue(names: Sequence[str]) -> Toolbox:
    """Tools of these names, each with the arguments of a real one."""
    schemas = [tool.protocol.input_schema for tool in service_tools().values()]
    return Toolbox(
        Tool(protocol=ToolProtocol(name=name, input_schema=schemas[place % len(schemas)]), call=_nothing)
        for place, name in enumerate(names)
    )


def build(vocabulary: Vocabulary, count: int) -> dict[str, Any]:
    """An automaton over so many tools, in this process; its memory; masks of names along some of them."""
    tools = catalogue(made_up_names(count))
    _ = vocabulary.lltokenizer  # shared by all automata of a vocabulary
    before, times = resident(), []
    for _ in range(REPEATS):
        begun = time.process_time()
        automaton = ToolAutomaton(tools, vocabulary, FUNCTION)
        times.append(1000 * (time.process_time() - begun))
    after = resident()
    cold, warm = Stopwatch(), Stopwatch()
    chosen = [vocabulary.encode(alias + "(") for alias in islice(tools, 0, None, max(1, len(tools) // 200))]
    for tokens in chosen:
        along(automaton.fresh(), tokens, cold)
    for tokens in chosen:
        along(automaton.fresh(), tokens, warm)
    return {
        "names": len(tools),
        "build_cpu_ms": round(median(times), 1),
        "resident_mb": round(after - before, 1),
        "masks of names": cold.told(),
        "masks of names again": warm.told(),
    }


def build_names(vocabulary: Vocabulary, count: int) -> dict[str, Any]:
    """What an automaton keeps of the names alone, of more tools than this machine should make."""
    names = made_up_names(count)
    before, begun = resident(), time.process_time()
    trie = NameTrie(names, vocabulary, between="(")
    took = 1000 * (time.process_time() - begun)
    return {"names": len(trie.keys), "build_cpu_ms": round(took, 1), "resident_mb": round(resident() - before, 1)}


def one_grammar(vocabulary: Vocabulary, count: int) -> dict[str, Any]:
    """One llguidance grammar of all names."""
    names = made_up_names(count)
    _ = vocabulary.lltokenizer
    before = resident()
    begun = time.process_time()
    matcher = Matcher(vocabulary, lark(names_grammar(names)))
    took = 1000 * (time.process_time() - begun)
    after, watch = resident(), Stopwatch()
    for name in names[:: max(1, len(names) // 200)]:
        follow(matcher.copy(), vocabulary.encode(name), watch)
    return {
        "names": count,
        "build_cpu_ms": round(took, 1),
        "resident_mb": round(after - before, 1),
        "masks of names": watch.told(),
    }


def tooldec_way(vocabulary: Vocabulary, count: int) -> dict[str, Any]:
    """Every token put behind what is written, at each step."""
    names = made_up_names(count)
    begun = time.process_time()
    beginnings = {name[:end] for name in names for end in range(len(name) + 1)}
    build_ms = 1000 * (time.process_time() - begun)
    watch = Stopwatch()

    def mask(written: bytes) -> list[bool]:
        return [(written + token).decode(errors="replace") in beginnings for token in vocabulary.tokens]

    for name in names[:REPEATS]:
        written = b""
        for token in vocabulary.encode(name):
            assert watch.time(mask, written)[token]
            written += vocabulary.tokens[token]
    return {"names": count, "build_cpu_ms": round(build_ms, 1), "masks of names": watch.told()}


def resident() -> float:
    """Megabytes of memory that are not pages of files."""
    said = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":" in line)
    return int(said["RssAnon"].split()[0]) / 1024
