"""`python -m benchmarks.decoding`: what holding a model to its tools is worth, against free replies and rivals."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from atc.cli.output import say
from atc.cli.settings import load_config
from atc.cli.wiring import choose_model
from atc.models.fetch import LOCAL_MODELS, own_file
from atc.models.fetch import fetch as fetch_model
from benchmarks.decoding import chance, funcqa, kamel, overhead, speed, tmdb
from benchmarks.decoding.arms import MODES, Arm, Report, Row, run_arms, sampled
from benchmarks.decoding.vocabulary import gguf_tokenizer
from benchmarks.runner import Outage, show, start
from protocols.ask import Ask


@click.command()
@click.option(
    "--suite",
    required=True,
    type=click.Choice(["funcqa", "kamel", "restbench", "random", "gold", "speed", "overhead"]),
)
@click.option("--model", "models", multiple=True, metavar="NAME", help="As of 'atc run'; repeatable.")
@click.option("--modes", multiple=True, metavar="NAMES", help=f"{', '.join(MODES)}; with commas. Default: the suite's.")
@click.option("--docs", multiple=True, metavar="NAMES", help="full, names, or both with a comma. Default: the suite's.")
@click.option("--sample", "--limit", type=click.IntRange(1), help="Questions (calls, pairs) drawn by --seed.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option(
    "--relations", multiple=True, type=click.IntRange(1), help="Of kamel; repeatable. Default: 10, 20 and 30."
)
@click.option("--data", type=click.Path(path_type=Path), help="Default: the suite's folder in ../shared/data.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Folder of rows, continued if there.")
@click.option("--restart", is_flag=True, help="Empty the files in --out first.")
@click.option("--json", "as_json", is_flag=True)
def main(suite: str, models: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Measure calls of a model that is held to its tools.

    funcqa: arithmetic in words, one call each. kamel: relations by their names. restbench: TMDB's paths, call by call.
    random: calls by random logits, and gold: gold calls against the grammars; no model. speed: what masks and grammars
    cost; overhead: what they cost while a model writes. Exit status 3 if anything is left that failed on our side.
    """
    config = load_config({})[0]
    seed, sample = options["seed"], options["sample"]
    told: dict[str, Any] = {"suite": f"decoding-{suite}", "seed": seed}
    name = models[0] if models else "smollm2"
    if suite == "overhead":
        found = overhead.measure(name, calls=sample or 12)
        show(told | found, [json.dumps(found, indent=2)], as_json=as_json)
        return
    if suite in ("random", "gold", "speed"):
        tokenizer = gguf_tokenizer(own_file(name) or fetch_model(LOCAL_MODELS[name], on_message=say))
        data, calls = options["data"] or chance.FOLDER, 0 if suite == "gold" else sample or chance.CALLS
        found = (
            speed.measure(tokenizer) if suite == "speed" else chance.measure(tokenizer, data, calls=calls, seed=seed)
        )
        show(told | found, [json.dumps(found, indent=2, ensure_ascii=False)], as_json=as_json)
        return
    folder = options["out"] or config.state_dir / "bench" / f"decoding-{suite}-{seed}"
    rows: dict[Arm, list[Row]] = {}
    notes: list[str] = []
    for model in models or (config.model or "local",):
        with closing(choose_model(replace(config, model=model), talk=say)) as ask:  # the weights of one at a time
            for asked, cases, known, settings in _parts(suite, ask, options, notes):
                label = Path(model).name
                arms = [
                    Arm(suite=suite, model=label, mode=mode, docs=docs, settings=settings)
                    for mode, docs in _pairs(known, options)
                ]
                say(f"{suite}: {len(cases)} questions in {len(arms)} arms with {model}; rows go to {folder}")
                rows |= run_arms(arms, cases, ask, asked, folder=folder, seed=seed, restart=options["restart"])
    success = {"funcqa": "accuracy", "kamel": "right relation"}.get(suite, "CP")
    report = Report(success=success, rows=rows, notes=tuple(notes))
    show({**told, "rows": str(folder), **report.as_json()}, report.lines(), as_json=as_json)
    if report.left:
        raise Outage("some questions failed on our side; the same command asks them again.")


def _parts(suite: str, ask: Ask, options: dict[str, Any], notes: list[str]) -> Iterator[tuple[Any, Any, Any, Any]]:
    """What is asked, which cases, the suite's own arms, and what tells these from others."""
    seed, sample, data = options["seed"], options["sample"], options["data"]
    if suite == "funcqa":
        folder = data or funcqa.FOLDER
        if (folder / "train.json").is_file():
            notes.append(funcqa.agreement(folder))
        yield funcqa.Asked(ask, seed=seed), sampled(funcqa.read_questions(folder), sample, seed), funcqa.ARMS, {}
    elif suite == "kamel":
        whole = kamel.read_kamel(data or kamel.FOLDER)
        for count in options["relations"] or kamel.RELATIONS:
            cases = sampled(whole.test(count), sample or kamel.QUESTIONS, seed)
            yield kamel.Asked(ask, whole.relations[:count], seed=seed), cases, kamel.ARMS, {"relations": count}
    else:
        asked = tmdb.Asked(ask, data or tmdb.FOLDER, seed=seed)
        yield asked, sampled(asked.cases, sample or tmdb.TASKS, seed), tmdb.ARMS, {}


def _pairs(known: list[tuple[str, str]], options: dict[str, Any]) -> list[tuple[str, str]]:
    """Modes and documentation: those that are named, else the suite's own."""
    given = {key: [name for text in options[key] for name in text.split(",")] for key in ("modes", "docs")}
    for key, names in (("modes", MODES), ("docs", ("full", "names"))):
        if strangers := set(given[key]) - set(names):
            raise click.BadParameter(f"there is no {min(strangers)!r}; there is {', '.join(names)}.", param_hint=key)
    if not (given["modes"] or given["docs"]):
        return known
    modes = given["modes"] or list(dict.fromkeys(mode for mode, _ in known))
    return [(mode, docs) for docs in given["docs"] or dict.fromkeys(docs for _, docs in known) for mode in modes]


if __name__ == "__main__":
    start(main)
