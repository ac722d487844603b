"""The suite `random`: no model but random logits and adversaries, and a judge that does not know any grammar.

Calls are decoded of the tools of ToolFlow, RestBench, BFCL and LiveMCP, one tool at a time, in all formats. Then the
gold calls of FuncQA, BFCL and RestBench are held against the grammars, their arguments in as many orders as they have
up to six.
"""

from __future__ import annotations

import ast
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice, permutations
from pathlib import Path
from typing import Any

import numpy as np

from atc.config import Config
from atc.decode.errors import Undecodable
from atc.decode.formats import FORMATS, FUNCTION, JSON_CALL, PYTHON_CALL, CallFormat
from atc.decode.grammar import call_grammar, judge
from atc.decode.literals import Unreadable, bracketed, quotient
from atc.decode.matcher import ToolMatcher, sample
from atc.decode.schema import VARIADIC
from atc.models.fetch import weights
from protocols.jsontypes import Json
from protocols.protocol import ToolProtocol
from protocols.schema import violations
from protocols.sources import load_tools
from protocols.toolbox import Tool, Toolbox
from toolflow_bench.decoding.frame import Arm, OpenModel, Say, Wanted, Watch
from toolflow_bench.decoding.gold import Gold, bfcl_tools, gold_calls
from toolflow_bench.decoding.tokenizer import gguf_tokenizer
from toolflow_bench.restbench.data import APIS
from toolflow_bench.retrieval.data_toolflow import service_tools

CALLS = 2_000
FOLDER = Path("../shared/data")
"""Has the folders bfcl, restbench, funcqa and livemcp."""
MOST_TOKENS = 4_096
"""A call with more is unfinished."""
_TEMPERATURES = (0.3, 0.7, 1.0, 1.5)
_ADVERSE: Mapping[str, Callable[[bytes], float]] = {
    "longest": lambda token: float(len(token)),
    "never ending": lambda token: -float(bool(set(b"\"'}]),\n`") & set(token))),
    "quotes": lambda token: float(bool(set(b"\"'`\\") & set(token))),
    "digits": lambda token: float(token.strip().isdigit()),
    "foreign": lambda token: float(any(byte > 127 for byte in token)),
}
"""Adversaries: what each likes, as a score of a token."""
SAMPLERS = (*(f"T={temperature}" for temperature in _TEMPERATURES), *_ADVERSE)
_ORDERS = 6
_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRow:
    """One call; `verdict` is `valid`, `invalid`, `unfinished`, or `unheld`: it breaks a clause that was listed."""

    source: str
    tool: str
    form: str
    sampler: str
    verdict: str
    tokens: int
    why: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldRow:
    """Gold calls of one source: those that conform, and of their orders those that the grammar refuses."""

    source: str
    calls: int
    orders: int
    refused: tuple[str, ...]
    lacking: int
    """Calls that do not conform to their own schema."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomReport:
    """What random decoding came to. `rejected` are tools of which no grammar can be made, with the reason."""

    seed: int
    tools: Mapping[str, int]
    rejected: tuple[str, ...]
    unheld: tuple[str, ...]
    calls: tuple[CallRow, ...]
    gold: tuple[GoldRow, ...]
    left: int = 0

    def as_json(self) -> dict[str, Any]:
        """All figures, and each call that is not valid."""
        return {
            "seed": self.seed,
            "tools": dict(self.tools),
            "rejected": list(self.rejected),
            "unheld": list(self.unheld),
            "verdicts": dict(Counter(row.verdict for row in self.calls)),
            "misses": [asdict(row) for row in self.calls if row.verdict != "valid"],
            "gold": [asdict(row) for row in self.gold],
        }

    def lines(self) -> list[str]:
        """The tables."""
        verdicts = Counter(row.verdict for row in self.calls)
        of_all, of_each = sum(self.tools.values()), ", ".join(f"{n} {source}" for source, n in self.tools.items())
        calls = f"{len(self.calls):,} calls with random logits, seed {self.seed}"
        told = [
            f"{of_all - len(self.rejected)} of {of_all} schemas compile ({of_each})",
            *(f"- not: {one}" for one in self.rejected[:_SHOWN]),
            *(f"- not held: {one}" for one in self.unheld[:_SHOWN]),
            "",
            f"{calls}: {verdicts['invalid']} invalid, {verdicts['unfinished']} unfinished, {verdicts['unheld']} unheld",
            *(f"- {r.verdict}: {r.source} {r.tool} {r.form} {r.sampler}: {r.why}" for r in self._misses()),
            "",
            "| gold calls | conform | orders | accepted |",
            "|---|---:|---:|---:|",
        ]
        for row in self.gold:
            accepted = row.orders - len(row.refused)
            told.append(
                f"| {row.source} | {row.calls} | {row.orders} | {accepted} ({accepted / (row.orders or 1):.2%}) |"
            )
            told += [f"  refused: {text[:120]}" for text in row.refused[:_SHOWN]]
        return told

    def _misses(self) -> list[CallRow]:
        return [row for row in self.calls if row.verdict != "valid"][:_SHOWN]


def run(wanted: Wanted, _open_model: OpenModel, _config: Config, watch: Watch, say: Say) -> RandomReport:
    """Decode `wanted.sample` calls with the vocabulary of the small local model (`--model FILE.gguf` for another).

    Raises:
        ModelUnavailable: its file cannot be had.
    """
    tokenizer = gguf_tokenizer(weights(wanted.models[0] if wanted.models else "smollm2", on_message=say))
    arm = Arm(suite="random", model="none", mode="random logits")
    data, calls = wanted.data or FOLDER, wanted.sample or CALLS
    return measure(tokenizer, data, calls=calls, seed=wanted.seed, watch=lambda done: watch(arm, None, done, calls))


def measure(
    tokenizer: Any, data: Path, *, calls: int, seed: int, watch: Callable[[int], None] = lambda _: None
) -> RandomReport:
    """Compile every tool, decode and judge calls of those that compile, tool after tool, and try the gold calls."""
    every = dict(catalogues(data))
    good, rejected, unheld = [], [], []
    for source, tools in every.items():
        for alias, tool in tools.items():
            try:
                for form in FORMATS.values():
                    grammar = call_grammar(Toolbox([tool]), form)
                    judge(grammar.text, "")
            except Undecodable as error:
                rejected.append(f"{source} {alias}: {error}")
                continue
            good.append((source, Toolbox([tool])))
            unheld += [f"{source} {clause}" for clause in grammar.unheld]
    rng = random.Random(seed)  # noqa: S311 - a sample, not secrecy
    rng.shuffle(good)
    crowd = Crowd(tokenizer)
    rows = []
    for number in range(calls):
        source, tools = good[number % len(good)]
        form = list(FORMATS.values())[(number // len(good) + number) % len(FORMATS)]
        rows.append(decoded(source, tools, form, crowd, rng.choice(SAMPLERS), seed=seed + number))
        watch(number + 1)
    counts = {source: len(tools) for source, tools in every.items()}
    return RandomReport(
        seed=seed,
        tools=counts,
        rejected=tuple(rejected),
        unheld=tuple(unheld),
        calls=tuple(rows),
        gold=tuple(gold_rows(data)),
    )


def catalogues(data: Path) -> Iterator[tuple[str, Toolbox]]:
    """The tools of each source; those whose files are absent are left out."""
    yield "ToolFlow", service_tools()
    for api in APIS:
        if (path := data / "restbench" / f"{api}_oas.json").is_file():
            yield f"RestBench {api}", load_tools(f"{api}={path}")
    if (data / "bfcl" / "func_docs.json").is_file():
        yield "BFCL", Toolbox(tool for tools in bfcl_tools(data).values() for tool in tools.values())
    if (path := data / "livemcp" / "tools.json").is_file():
        servers = (server for one in json.loads(path.read_text(encoding="utf-8")) for server in one["tools"].values())
        tools = [(server["server_name"], tool) for server in servers for tool in server["tools"]]
        yield "LiveMCP", Toolbox(idle(ToolProtocol(name=t["name"], input_schema=t["inputSchema"]), s) for s, t in tools)


def idle(protocol: ToolProtocol, source: str = "") -> Tool:
    """A tool that nobody calls."""
    return Tool(protocol=protocol, call=lambda _arguments: None, source=source)


class Crowd:
    """Choosers of the next token for one vocabulary: random logits at some temperatures, and adversaries."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        texts = [tokenizer.decode_bytes([token]) for token in range(tokenizer.vocab_size)]
        self._likes = {name: np.array([like(text) for text in texts]) for name, like in _ADVERSE.items()}

    def scores(self, sampler: str, rng: np.random.Generator) -> Any:
        """Logits of one call: random ones, or what an adversary likes, with some chance in either."""
        noise = rng.standard_normal(self.tokenizer.vocab_size)
        if sampler.startswith("T="):
            return noise * (3.0 / float(sampler[2:]))
        return self._likes[sampler] * 30.0 + noise


def decoded(source: str, tools: Toolbox, form: CallFormat, crowd: Crowd, sampler: str, *, seed: int) -> CallRow:
    """Decode and judge one call."""
    [alias], rng = tools, np.random.default_rng(seed)
    row: dict[str, Any] = {"source": source, "tool": alias, "form": form.name, "sampler": sampler}
    grammar = call_grammar(tools, form)
    plain = CallFormat(
        name=form.name, before=form.before, between=form.between, after=form.after, arguments=form.arguments
    )
    matcher = ToolMatcher(tools, crowd.tokenizer, plain)
    scores, count = crowd.scores(sampler, rng), 0
    try:
        while not matcher.is_finished and count < MOST_TOKENS:
            # The same scores at each place would repeat one token for ever: they move on, as a model's do.
            token = sample(np.roll(scores, 7919 * (count % 61)), matcher.allowed(), temperature=1.0, rng=rng)
            matcher.advance(token)
            count += 1
    except (Undecodable, ValueError) as error:
        return CallRow(verdict="unfinished", tokens=count, why=str(error), text=matcher.text, **row)
    if not matcher.is_finished:
        return CallRow(verdict="unfinished", tokens=count, why=f"{MOST_TOKENS} tokens", text=matcher.text, **row)
    why = problem(matcher.text, tools[alias], plain)
    verdict = "valid" if not why else "unheld" if grammar.unheld else "invalid"
    return CallRow(verdict=verdict, tokens=count, why=why, text=matcher.text if why else "", **row)


def problem(text: str, tool: Tool, form: CallFormat) -> str:
    """What is wrong with a text that should be one call: JSON and literals parsed, the schema by jsonschema-rs."""
    start, end = form.before + tool.alias + form.between, len(text) - len(form.after)
    if not text.startswith(start) or not text.endswith(form.after):
        return f"it is not {start}…{form.after}"
    try:
        arguments = _given(text[len(start) : end], tool, form)
    except (ValueError, RecursionError) as error:
        return str(error)
    if strangers := arguments.keys() - tool.arguments.keys():
        return f"there is no argument {min(strangers)!r}"
    try:
        found = violations(tool.protocol.input_schema, tool.original(arguments))
    except ValueError:
        return ""  # the document is no schema of 2020-12, and the host refuses nothing by it either
    if found:
        return f"{found[0].path}: {found[0].message[:200]} ({found[0].clause})"
    return ""


def _given(inside: str, tool: Tool, form: CallFormat) -> dict[str, Json]:
    if form.arguments == "json":
        return dict(json.loads(inside, parse_constant=_refuse, object_pairs_hook=_once))
    try:
        written = bracketed(inside + ")", 0, ")")
    except Unreadable as error:
        raise ValueError(str(error)) from error
    if written.end != len(inside):
        raise ValueError(f"{inside[written.end :][:40]!r} follows the arguments")
    if form.arguments == "keywords":
        return written.named
    values = [number if isinstance(v, str) and (number := quotient(v)) is not None else v for v in written.values]
    names = list(tool.arguments)
    last: Any = tool.protocol.parameters[tool.arguments[names[-1]]] if names else {}
    if isinstance(last, Mapping) and last.get(VARIADIC) is True:
        values = [*values[: len(names) - 1], values[len(names) - 1 :]]
    if len(values) > len(names):
        raise ValueError(f"{len(values)} arguments are given, {len(names)} are known")
    return dict(zip(names, values, strict=False))


def _refuse(name: str) -> Json:
    raise ValueError(f"{name} is no JSON")


def _once(pairs: Sequence[tuple[str, Json]]) -> dict[str, Json]:
    if len(found := dict(pairs)) < len(pairs):
        raise ValueError("a key occurs twice")
    return found


def gold_rows(data: Path) -> Iterator[GoldRow]:
    """What the grammars make of the gold calls that `data` has, in up to six orders of their arguments each."""
    groups: dict[str, list[Gold]] = {}
    for gold in gold_calls(data):
        groups.setdefault(gold.source, []).append(gold)
    for source, every in groups.items():
        fitting = [gold for gold in every if gold.conforms]
        tried = [(gold, text) for gold in fitting for text in orders(gold)]
        refused = tuple(f"{gold.tool.alias}({text})" for gold, text in tried if not accepted(gold, text))
        lacking = len(every) - len(fitting)
        yield GoldRow(source=source, calls=len(fitting), orders=len(tried), refused=refused, lacking=lacking)


def orders(gold: Gold) -> Iterator[str]:
    """The gold call's arguments as they are written, then in other orders."""
    yield gold.text
    if gold.form == "positional":
        return
    if gold.form == "json":
        pairs = list(json.loads(gold.text).items())
        for order in islice(permutations(pairs), 1, _ORDERS):
            yield json.dumps(dict(order), ensure_ascii=False)
        return
    parsed = ast.parse(f"f({gold.text})", mode="eval").body
    assert isinstance(parsed, ast.Call)
    written = [f"{word.arg}={ast.unparse(word.value)}" for word in parsed.keywords]
    for words in islice(permutations(written), 1, _ORDERS):
        yield ", ".join(words)


def accepted(gold: Gold, text: str) -> bool:
    """Whether the whole call is a sentence of its tool's grammar."""
    form = {"json": JSON_CALL, "positional": FUNCTION, "keywords": PYTHON_CALL}[gold.form]
    try:
        tools = _alone(gold.tool)
        call = form.before + next(iter(tools)) + form.between + text + form.after
        return judge(call_grammar(tools, form).text, call) == "complete"
    except Undecodable:
        return False


_BOXES: dict[int, Toolbox] = {}


def _alone(tool: Tool) -> Toolbox:
    return _BOXES.setdefault(id(tool), Toolbox([tool]))
