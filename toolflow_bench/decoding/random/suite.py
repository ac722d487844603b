"""The suite `random`: no model, random logits, and a judge that knows no grammar."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import cycle, islice
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from sandbox.base import Sandbox
from toolflow_bench.decoding.frame import Arm, OpenModel, Say, Wanted, Watch
from toolflow_bench.decoding.random.accepted import gold_rows
from toolflow_bench.decoding.random.calls import Decoded, decode_call
from toolflow_bench.decoding.random.figures import CallRow, ProgramRow, RandomReport
from toolflow_bench.decoding.random.judge import problems, without_unique_items
from toolflow_bench.decoding.random.plan import Asked, Plan, unheld
from toolflow_bench.decoding.random.programs import certain_findings, decode_program, run_on_mocks
from toolflow_bench.decoding.random.samplers import SAMPLERS, Crowd
from toolflow_bench.decoding.random.sources import Catalogue, bfcl_catalogues, tool_catalogues

if TYPE_CHECKING:
    from atc.config import Config
    from atc.decode.automaton import ToolAutomaton
    from atc.decode.react import ReactAutomaton
    from atc.decode.vocabulary import Vocabulary

CALLS = 10_000
FOLDER = Path("../shared/data")
"""Has the folders bfcl, restbench and funcqa."""
CALLS_A_PROGRAM = 100
"""One program is decoded for so many calls: its forty statements take as long."""
_TOOLS_OF_A_PROGRAM = 5
_NOTHING = Path("nothing")


def run(wanted: Wanted, open_model: OpenModel, config: Config, watch: Watch, say: Say) -> RandomReport:  # noqa: ARG001 - the shape of a suite
    """Decode `wanted.sample` calls and a hundredth as many programs with the vocabulary of the small local model.

    Raises:
        ModelUnavailable: its file, which holds the vocabulary, cannot be had.
        SandboxUnavailable: programs cannot be run.
    """
    from contextlib import closing

    from atc.decode.vocabulary import Vocabulary
    from atc.models.fetch import weights
    from sandbox.choose import open_sandbox

    vocabulary = Vocabulary.from_gguf(weights(wanted.models[0] if wanted.models else "smollm2", on_message=say))
    arm = Arm(suite="random", model="none", mode="random logits")
    calls = wanted.sample or CALLS
    data = wanted.data or FOLDER
    if not data.is_dir():
        say(f"There is no {str(data)!r} (--data): only random tools and ToolFlow's are decoded, and no gold calls.")
    with closing(open_sandbox(config.sandbox, policy=config.policy)) as sandbox:
        return measure(
            vocabulary,
            calls=calls,
            programs=max(1, calls // CALLS_A_PROGRAM),
            seed=wanted.seed,
            data=data,
            sandbox=sandbox,
            told=lambda done, total: watch(arm, None, done, total),
        )


def measure(
    vocabulary: Vocabulary,
    *,
    calls: int,
    programs: int = 0,
    seed: int = 0,
    data: Path = _NOTHING,
    sandbox: Sandbox | None = None,
    gold: bool = True,
    told: Callable[[int, int], None] = lambda done, total: None,  # noqa: ARG005 - nobody is told
) -> RandomReport:
    """Decode and judge calls, programs where there is a `sandbox` to run them in, and the `gold` calls in `data`."""
    crowd = Crowd(vocabulary.tokens, vocabulary.eos)
    plan = Plan(calls=calls, seed=seed, data=data)
    automata = _Automata(vocabulary)
    rows = []
    for asked in plan:
        rows.append(decode_one(asked, automata, crowd, seed=seed))
        told(len(rows), calls + programs)
    written: list[ProgramRow] = []
    if sandbox is not None:
        for number, catalogue in enumerate(islice(program_tools(data, seed=seed), programs)):
            written.append(program_row(number, catalogue, vocabulary, crowd, sandbox, seed=seed))
            told(calls + len(written), calls + programs)
    return RandomReport(
        seed=seed,
        vocabulary=vocabulary.size,
        calls=rows,
        rejected=plan.rejected,
        programs=written,
        gold=gold_rows(data, vocabulary) if gold else (),
    )


class _Automata:
    """Automata at their beginning, one for each catalogue and format in a row of calls."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self._known: dict[Any, Any] = {}

    def fresh(self, asked: Asked) -> ToolAutomaton | ReactAutomaton:
        """The automaton of a call. In ReAct's format a thought comes before it, where the sampler chooses the tool."""
        from atc.decode.automaton import ToolAutomaton
        from atc.decode.react import ReactAutomaton

        thinks = asked.form.name == "react" and not asked.tool
        key = (asked.catalogue.source, asked.catalogue.name, asked.form.name, thinks)
        if key not in self._known:
            if asked.catalogue.drawn:
                self._known = {}  # a random tool does not come again
            tools = asked.catalogue.tools
            self._known[key] = (
                ReactAutomaton(tools, self.vocabulary) if thinks else ToolAutomaton(tools, self.vocabulary, asked.form)
            )
        automaton: ToolAutomaton | ReactAutomaton = self._known[key].fresh()
        return automaton


def decode_one(asked: Asked, automata: _Automata, crowd: Crowd, *, seed: int) -> CallRow:
    """Decode and judge one call."""
    sampler = crowd.make(asked.sampler, seed, asked.number)
    vocabulary = automata.vocabulary
    trigger = vocabulary.encode(asked.form.trigger) if asked.form.trigger else []
    begun = asked.form.trigger + asked.form.before + asked.tool + asked.form.between if asked.tool else ""
    try:
        decoded = decode_call(
            automata.fresh(asked), sampler, size=vocabulary.size, trigger=trigger, begun=vocabulary.encode(begun)
        )
    except Exception as error:  # noqa: BLE001 - a bug of ours is one call that did not end, not the end of 10,000
        decoded = Decoded(text="", tokens=0, problem=f"{type(error).__name__}: {error}")
    verdict, why = _verdict(asked, decoded)
    return CallRow(
        number=asked.number,
        source=asked.catalogue.source,
        catalogue=asked.catalogue.name,
        form=asked.form.name,
        sampler=asked.sampler,
        kinds=asked.kinds,
        tokens=decoded.tokens,
        verdict=verdict,
        why=why,
        text="" if verdict == "valid" else decoded.text,
    )


def _verdict(asked: Asked, decoded: Decoded) -> tuple[str, str]:
    if decoded.problem:
        return "unfinished", decoded.problem
    found = problems(decoded.text, asked.form, asked.catalogue.tools)
    if not found:
        return "valid", ""
    # In a union the whole union is what is violated, so the text is judged again without the clause.
    if unheld(asked.catalogue.tools, asked.form) and not problems(
        decoded.text, asked.form, without_unique_items(asked.catalogue.tools)
    ):
        return "unheld", found[0]
    return "invalid", found[0]


def program_tools(data: Path, *, seed: int) -> Iterator[Catalogue]:
    """A few tools of one catalogue at a time, without an end: those that programs may be written against."""
    rng = Random(f"programs {seed}")  # noqa: S311 - a sample, not secrecy
    for catalogue in cycle([*tool_catalogues(data), *bfcl_catalogues(data)]):
        aliases = list(catalogue.tools)
        some = rng.sample(aliases, min(_TOOLS_OF_A_PROGRAM, len(aliases)))
        yield Catalogue(
            source=catalogue.source, name=catalogue.name, tools=catalogue.tools.only(sorted(some)), drawn={}
        )


def program_row(
    number: int, catalogue: Catalogue, vocabulary: Vocabulary, crowd: Crowd, sandbox: Sandbox, *, seed: int
) -> ProgramRow:
    """Decode one program, check it, and run it on made-up responses."""
    from atc.decode.program import Statements

    name = list(SAMPLERS)[number % len(SAMPLERS)]
    source = f"{catalogue.source} {catalogue.name}"
    sampler = crowd.make(name, seed, number, 1)
    try:
        decoded = decode_program(Statements(catalogue.tools), sampler, vocabulary)
    except Exception as error:  # noqa: BLE001 - as for calls
        told = f"{type(error).__name__}: {error}"
        return ProgramRow(number=number, source=source, sampler=name, statements=0, tokens=0, unfinished=told)
    why = () if decoded.problem else tuple(certain_findings(decoded.source, catalogue.tools))
    failed = "" if decoded.problem else run_on_mocks(decoded.source, catalogue.tools, sandbox, seed=seed + number)
    return ProgramRow(
        number=number,
        source=source,
        sampler=name,
        statements=decoded.statements,
        tokens=decoded.tokens,
        unfinished=decoded.problem,
        why=why,
        failed=failed,
        text=decoded.source if why or decoded.problem or failed else "",
    )
