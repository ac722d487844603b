"""`atc models`: list the available models, download the embedded ones, and test a model."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import click

from atc.cli.options import VerbGroup, model_option
from atc.cli.output import print_result, report_tenths, say
from atc.cli.wiring import open_model, open_toolbox
from atc.core.config import Config
from atc.core.text import count
from atc.models import list_models, openai
from atc.models.fetch import fetch
from atc.models.local import LocalModel
from atc.models.model_files import LOCAL_MODELS
from atc.observe.terminal_view import format_reading
from atc.pipeline.retrieve import embedders
from atc.pipeline.synthesize import build_program_prompt
from atc.settings.reading import load_config
from protocols.errors import AtcError
from protocols.model import Message
from protocols.render import describe_within_budget

_QUESTION = "Write a Python function add(a, b) that returns the sum. Reply with the code alone."


@click.group(cls=VerbGroup)
def models() -> None:
    """See, fetch and test language models.

    atc uses the model that --model names, else the configured one, else the endpoint of
    OPENAI_BASE_URL or OPENAI_API_KEY, else the embedded model, 'local'.
    """


@models.command("list", examples=["atc models list --json"])
def list_() -> None:
    """List the models that can be used here; * marks those in use."""
    config = load_config()
    folder = config.cache_dir / "models"
    chosen = config.model or ("(endpoint)" if openai.is_configured() else "local")
    rows = [("language", *row, row[0] == chosen) for row in list_models(chosen, folder=folder)]
    rows += [
        ("embedding", *row, row[0] == config.embedder)
        for row in embedders.list_embedders(config.embedder, folder=folder)
    ]
    documents = [
        dict(zip(("kind", "name", "state", "where", "in_use"), row, strict=True)) for row in rows
    ]
    print_result(
        documents, [(("* " if used else "  ") + name, *more) for _, name, *more, used in rows]
    )


@models.command(examples=["atc models pull", "atc models pull search"])
@click.argument("name", default="local")
@click.option(
    "--read-tools/--no-read-tools",
    default=True,
    help="Let the embedded model read the descriptions of the configured tools (on).",
)
def pull(name: str, *, read_tools: bool) -> None:
    """Download a model into the cache and verify it. An interrupted download is continued.

    NAME is 'local' (the default: the embedded model that writes programs), 'search' (the model that
    tool search uses), or another model of 'atc models list'.

    The embedded model then reads the descriptions of the configured tools, or else of the built-in
    flights service. This takes a minute or two, which the first question about them would take
    otherwise.
    """
    config = load_config()
    folder = config.cache_dir / "models"
    name = config.embedder if name == "search" else name
    if name not in (*LOCAL_MODELS, *embedders.MODELS):
        names = ", ".join([*LOCAL_MODELS, "search", *embedders.MODELS])
        raise click.BadParameter(
            f"nothing to fetch is named {name!r}; there is {names}.", param_hint="NAME"
        )
    files = [LOCAL_MODELS[name]] if name in LOCAL_MODELS else embedders.files(name)
    paths = [
        fetch(file, folder=folder, on_progress=report_tenths(), on_message=say) for file in files
    ]
    if read_tools and name == "local":
        try:
            _read_ahead(config)
        except AtcError as error:
            say(f"The model is there, but the tools were not read: {error}")
    size = sum(path.stat().st_size for path in paths)
    print_result({"model": name, "path": str(paths[0]), "bytes": size}, "\n".join(map(str, paths)))


def _read_ahead(config: Config) -> None:
    """Let the embedded model read the beginning of each prompt over the configured tools.

    Nothing is read if the tools do not all fit into a prompt, since each prompt then has others.
    """
    folder = config.cache_dir / "models"
    with closing(LocalModel(folder=folder, on_reading=_show_reading)) as model:
        with open_toolbox(config) as toolbox:
            budget = config.prompt_tokens or model.prompt_tokens
            docs = config.docs or model.docs
            if len(describe_within_budget(toolbox, budget=budget, docs=docs)[1]) < len(toolbox):
                say(
                    f"Not all {len(toolbox):,} tools fit into a prompt, so their descriptions are"
                    " read when a question is asked."
                )
                return
            prompt = build_program_prompt("", toolbox, budget=budget, docs=docs, small=True)
        reply = model.read_ahead(prompt)
    say(
        f"The model has read {count(len(toolbox), 'tool')} ({count(reply.input_tokens, 'token')}"
        f" in {reply.seconds:.0f} s)."
    )


def _show_reading(done: int, total: int, seconds: float) -> None:
    """Report how many tokens of the prompt the model has read, and how long it still takes."""
    say(format_reading(done, total, seconds))


@models.command(examples=["atc models test --model local"])
@model_option
def test(**flags: Any) -> None:
    """Ask the model one small question and show how fast it answers."""
    config = load_config(flags)
    with open_model(config) as ask:
        reply = ask([Message("user", _QUESTION)], max_tokens=200)
    speed = reply.output_tokens / reply.seconds if reply.seconds else 0.0
    figures = {"seconds": round(reply.seconds, 3), "tokens_per_second": round(speed, 1)}
    tokens = {"input_tokens": reply.input_tokens, "output_tokens": reply.output_tokens}
    print_result({"model": ask.name, "reply": reply.text} | tokens | figures, reply.text)
    read = count(reply.input_tokens, "token")
    written = f"{reply.output_tokens} written in {reply.seconds:.1f} s"
    say(
        f"{ask.name}: {read} read, {written} ({speed:.1f} a second, the first answer after loading)"
    )
