"""`python -m benchmarks.decoding`: constrained decoding of calls, compared with free replies."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from atc.cli.output import say
from atc.cli.wiring import choose_model
from atc.models.fetch import fetch as fetch_model
from atc.models.model_files import LOCAL_MODELS, own_file
from atc.settings.reading import load_config
from benchmarks import runner
from benchmarks.decoding import chance, cost, questions
from benchmarks.decoding.arms import MODES, DecodingArm, DecodingRow, report, run_arms
from benchmarks.decoding.gguf import gguf_tokenizer
from protocols.model import Ask

SUITES = ("funcqa", "kamel", "random", "gold", "speed", "overhead")


@runner.suite
@click.option("--suite", required=True, type=click.Choice(SUITES))
@click.option(
    "--model", "models", multiple=True, metavar="NAME", help="As of 'atc run'; repeatable."
)
@click.option(
    "--modes", metavar="NAMES", help=f"{', '.join(MODES)}; with commas. Default: the suite's."
)
@click.option(
    "--docs", metavar="NAMES", help="full, names, or both with a comma. Default: the suite's."
)
@click.option("--sample", type=click.IntRange(1), help="Questions (calls, pairs) drawn by --seed.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option(
    "--relations",
    multiple=True,
    type=click.IntRange(1),
    help="Of kamel; repeatable. Default: 10, 20, 30.",
)
@click.option(
    "--data", type=click.Path(path_type=Path), help="Default: the suite's folder in ../shared/data."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of rows, continued if there.",
)
def main(
    suite: str, models: tuple[str, ...], sample: int | None, seed: int, **options: Any
) -> dict[str, Any]:
    """Measure tool calls of a model whose decoding is constrained to the tools.

    funcqa: arithmetic word problems, one call each. kamel: relations, which are chosen by name.
    random: calls that are decoded from random logits, without a model. gold: gold calls that are
    matched against the grammars, without a model. speed: the cost of token masks. overhead: the
    cost of grammars while a model writes. The exit status is 3 if results are missing because a
    model or this program failed.
    """
    about = {"suite": f"decoding-{suite}", "seed": seed}
    if suite in _WITHOUT_QUESTIONS:
        name = models[0] if models else "smollm2"
        data = options["data"] or chance.FOLDER
        return about | _measure_without_questions(suite, name, data, sample, seed)
    config = load_config({})
    folder = options["out"] or config.state_dir / "bench" / f"decoding-{suite}-{seed}"
    rows: dict[DecodingArm, list[DecodingRow]] = {}
    for model in models or (config.model or "local",):
        with ExitStack() as stack:  # holds one model at a time
            ask = choose_model(replace(config, model=model))
            stack.callback(getattr(ask, "close", lambda: None))
            for asked, cases, known, part in _parts(suite, ask, sample, seed, options):
                pairs = _pairs(known, options["modes"], options["docs"])
                arms = [
                    DecodingArm(model=Path(model).name, mode=mode, docs=docs, part=part)
                    for mode, docs in pairs
                ]
                file = re.sub(r"[^\w.]+", "_", f"{suite}-{arms[0].model}-{part}").strip("_")
                path = folder / f"{file}.jsonl"
                say(
                    f"{suite}: {len(cases)} questions in {len(arms)} arms with {model}; rows go "
                    f"to {path}"
                )
                rows |= run_arms(arms, cases, ask, asked, path=path, seed=seed)
    return {**about, "rows": str(folder), **report(rows)}


_WITHOUT_QUESTIONS = ("random", "gold", "speed", "overhead")


def _measure_without_questions(
    suite: str, model: str, data: Path, sample: int | None, seed: int
) -> dict[str, Any]:
    """Return the results of a suite that asks the model no questions, such as `random`."""
    if suite == "overhead":
        return cost.overhead(model, calls=sample or 12)
    path = own_file(model) or fetch_model(LOCAL_MODELS[model], on_message=say)
    tokenizer = gguf_tokenizer(path)
    if suite == "speed":
        return cost.speed(tokenizer)
    calls = 0 if suite == "gold" else sample or chance.CALLS
    return chance.measure(tokenizer, data, calls=calls, seed=seed)


def _parts(
    suite: str, ask: Ask, sample: int | None, seed: int, options: Any
) -> Iterator[tuple[Any, Any, Any, str]]:
    """Yield the parts of a suite, such as KAMEL with 10 relations and KAMEL with 20.

    Each part is a tuple: the `CallSuite`, its questions, its default pairs of mode and
    documentation, and the part's name.
    """
    if suite == "funcqa":
        cases = runner.draw_sample(
            questions.read_funcqa(options["data"] or questions.FUNCQA), sample, seed, "decoding"
        )
        yield questions.FuncQa(ask, seed=seed), cases, questions.FUNCQA_ARMS, ""
        return
    whole = questions.read_kamel(options["data"] or questions.KAMEL)
    for count in options["relations"] or questions.RELATIONS:
        some = runner.draw_sample(
            whole.test(count), sample or questions.KAMEL_QUESTIONS, seed, "decoding"
        )
        asked = questions.Relations(ask, whole.relations[:count], seed=seed)
        yield asked, some, questions.KAMEL_ARMS, f"relations={count}"


def _pairs(
    known: list[tuple[str, str]], modes: str | None, docs: str | None
) -> list[tuple[str, str]]:
    """Return the pairs of mode and documentation to measure.

    They are the user's choice or, without one, those of the suite.
    """
    if not modes and not docs:
        return known
    named_modes = modes.split(",") if modes else dict.fromkeys(mode for mode, _ in known)
    named_docs = docs.split(",") if docs else dict.fromkeys(one for _, one in known)
    return [(mode, one) for one in named_docs for mode in named_modes]


if __name__ == "__main__":
    main()
