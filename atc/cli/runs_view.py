"""`atc runs view`: runs in the browser."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable
from contextlib import closing

import click

from atc.cli.agents import open_agent
from atc.cli.options import json_option
from atc.cli.output import print_json, print_text, say
from atc.cli.run import config_of
from atc.cli.settings import load_config
from atc.cli.state import open_store
from atc.consent import AskPerson
from atc.store import RunStore
from atc.types import Solution

_EPILOG = """\b
Examples:
  atc runs view
  atc runs view last
  atc runs view --port 8790 --no-browser
"""


@click.command(epilog=_EPILOG)
@click.argument("run", required=False)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Port of 127.0.0.1, else a free one."
)
@click.option("--browser/--no-browser", default=True, help="Open the page in the browser (the default), or print it.")
@json_option
def view(run: str | None, *, port: int, browser: bool, as_json: bool) -> None:
    """See runs in the browser: programs, calls and where their values came from, faults, changes, tokens and cost.

    RUN is an id, the beginning or the end of one, or 'last'; without it the page lists all runs. A run is shown as it
    goes on, a paused one can be gone on with there, and what waits for consent allowed or refused. The page is reached
    from this machine alone, by the address that is printed; its token is new each time. Ctrl-C ends it.
    """
    from atc.serve.view.resumes import Resumes  # needs the extra `view`
    from atc.serve.view.server import Viewer, serve

    config = load_config()[0]
    with open_store(config) as store:
        path = f"runs/{store.load(run).summary.id}" if run is not None else ""

        def ready(address: str) -> None:
            url = address + path
            if as_json:
                print_json({"url": url})
            else:
                print_text(url)
                say("Ctrl-C ends it.")
            if browser:
                webbrowser.open(url)

        with closing(Resumes(_resume_with(store))) as resumes:
            serve(Viewer(store, resumes), port=port, ready=ready)


def _resume_with(store: RunStore) -> Callable[..., Solution]:
    def resume(run: str, *, ask_person: AskPerson, accept_orphans: bool, resend: bool) -> Solution:
        with open_agent(config_of(store.load(run)), ask_person=ask_person) as agent:
            return agent.resume(run, accept_orphans=accept_orphans, resend=resend)

    return resume
