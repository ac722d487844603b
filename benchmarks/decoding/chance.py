"""The suites `random` and `gold`, which need no model.

`random`: calls of the tools of ToolFlow, RestBench, BFCL and LiveMCP are decoded, one tool at a
time and in all formats, from random logits and from scores that favour difficult tokens. They are
judged without the grammar. `gold`: the gold calls of FuncQA, BFCL and RestBench are matched against
the grammars, with their arguments in up to six orders.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from atc.models.decode.errors import Undecodable
from atc.models.decode.formats import FORMATS, CallFormat
from atc.models.decode.grammar import call_grammar, classify_text
from atc.models.decode.matcher import ToolMatcher, sample
from benchmarks.catalogues import bfcl_tools, service_tools
from benchmarks.decoding.calls import call_problem
from benchmarks.decoding.gold_calls import gold_rows
from benchmarks.restbench.data import load_restbench
from protocols.protocol import ToolProtocol
from protocols.tool import Tool
from protocols.toolbox import Toolbox

CALLS = 2_000
FOLDER = Path("../shared/data")
"""Folder with the subfolders bfcl, restbench, funcqa and livemcp; its README describes them."""
MOST_TOKENS = 4_096
"""Maximum number of tokens of a call. A longer call counts as unfinished."""
_ADVERSE: Mapping[str, Callable[[bytes], float]] = {
    "longest": lambda token: float(len(token)),
    "never ending": lambda token: -float(bool(set(b"\"'}]),\n`") & set(token))),
    "quotes": lambda token: float(bool(set(b"\"'`\\") & set(token))),
    "digits": lambda token: float(token.strip().isdigit()),
    "foreign": lambda token: float(any(byte > 127 for byte in token)),
}
"""Adversarial samplers: each gives a higher score to the tokens that its name describes."""
SAMPLERS = ("0.3", "0.7", "1.0", "1.5", *_ADVERSE)
"""The names of all samplers: temperatures for random logits, and adversarial samplers."""


def measure(tokenizer: Any, data: Path, *, calls: int, seed: int) -> dict[str, Any]:
    """Return the results of the suites `random` and `gold`.

    They are: which tools can be compiled to grammars, the verdicts on calls that are decoded at
    random, and whether the grammars accept the gold calls.
    """
    every = {source: Toolbox(tools) for source, tools in catalogues(data)}
    compiled = _compile_tools(every)
    drawn = _decode_random_calls(tokenizer, compiled.good, calls=calls, seed=seed)
    return {
        "tools": {source: len(tools) for source, tools in every.items()},
        "compiled": len(compiled.good),
        "rejected": compiled.rejected,
        "unheld": compiled.unheld,
        **drawn,
        "gold": gold_rows(data),
    }


class _CompiledTools(NamedTuple):
    """The tools that could be compiled to grammars, and lists of what could not be compiled.

    `good` has the tools, each with the name of its source. `rejected` names the tools without
    grammars. `unheld` lists the schema clauses that a grammar does not enforce.
    """

    good: list[tuple[str, Tool]]
    rejected: list[str]
    unheld: list[str]


def _compile_tools(every: Mapping[str, Toolbox]) -> _CompiledTools:
    """Compile every tool to a grammar for each format of calls."""
    found = _CompiledTools([], [], [])
    for source, tools in every.items():
        for tool in tools.values():
            (alone,) = Toolbox([tool]).values()  # its name no longer depends on other tools
            try:
                grammars = [call_grammar(Toolbox([tool]), form) for form in FORMATS.values()]
                for grammar in grammars:
                    classify_text(grammar.text, "")
            except Undecodable as error:
                found.rejected.append(f"{source} {tool.alias}: {error}")
                continue
            found.good.append((source, alone))
            found.unheld.extend(f"{source} {clause}" for clause in grammars[0].unenforced)
    return found


def _decode_random_calls(
    tokenizer: Any, tools: Sequence[tuple[str, Tool]], *, calls: int, seed: int
) -> dict[str, Any]:
    """Decode `calls` calls, taking the tools in turn.

    Return the number of calls for each verdict, and what is wrong with those that are not valid.
    """
    rng = random.Random(seed)
    shuffled = list(tools)
    rng.shuffle(shuffled)
    tokens = range(tokenizer.vocab_size if calls else 0)
    texts = [tokenizer.decode_bytes([token]) for token in tokens]
    likes = {name: np.array(list(map(like, texts))) for name, like in _ADVERSE.items()}
    forms = list(FORMATS.values())
    verdicts = Counter[str]()
    misses = []
    for number in range(calls):
        source, tool = shuffled[number % len(shuffled)]
        form = forms[(number // len(shuffled) + number) % len(forms)]
        sampler = rng.choice(SAMPLERS)
        like = likes.get(sampler, sampler)
        verdict, why = decode_call(tool, form, tokenizer, like, seed=seed + number)
        verdicts[verdict] += 1
        if verdict != "valid":
            misses.append(f"{verdict}: {source} {tool.alias} {form.name} {sampler}: {why}")
    return {"verdicts": dict(verdicts), "misses": misses}


def catalogues(data: Path) -> Iterator[tuple[str, list[Tool]]]:
    """Yield the name of each source of tools, such as BFCL, paired with its tools."""
    yield "ToolFlow", list(service_tools().values())
    for api, tools in load_restbench(data / "restbench").tools.items():
        yield f"RestBench {api}", list(tools.values())
    yield "BFCL", [tool for tools in bfcl_tools(data).values() for tool in tools.values()]
    listed = json.loads((data / "livemcp" / "tools.json").read_text(encoding="utf-8"))
    servers = [server for one in listed for server in one["tools"].values()]
    many = [(tool, one["server_name"]) for one in servers for tool in one["tools"]]
    protocols = [
        (ToolProtocol(name=one["name"], input_schema=one["inputSchema"]), source)
        for one, source in many
    ]
    yield (
        "LiveMCP",
        [Tool(protocol=protocol, call=dict, source=source) for protocol, source in protocols],
    )


def decode_call(
    tool: Tool, form: CallFormat, tokenizer: Any, likes: Any, *, seed: int
) -> tuple[str, str]:
    """Decode one call and return its verdict with a reason.

    The verdict is `valid`, `invalid`, `unfinished`, or `unheld` (it breaks a clause that the
    grammar lists as unenforced).
    """
    rng = np.random.default_rng(seed)
    tools = Toolbox([tool])
    plain = replace(form, trigger="")
    matcher = ToolMatcher(tools, tokenizer, plain)
    noise = rng.standard_normal(tokenizer.vocab_size)
    scores = noise * (3.0 / float(likes)) if isinstance(likes, str) else likes * 30.0 + noise
    while not matcher.is_finished and len(matcher.tokens) < MOST_TOKENS:
        # The same scores at every step would repeat one token for ever, so they are rotated.
        rolled = np.roll(scores, 7919 * (len(matcher.tokens) % 61))
        matcher.advance(sample(rolled, matcher.allowed_mask(), temperature=1.0, rng=rng))
    if not matcher.is_finished:
        return "unfinished", f"{MOST_TOKENS} tokens: {matcher.text[:200]}"
    why = call_problem(matcher.text, tool, plain)
    if not why:
        return "valid", why
    return "unheld" if call_grammar(tools, form).unenforced else "invalid", why
