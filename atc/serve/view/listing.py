"""The page of all runs: a line each, with search and filters."""

from __future__ import annotations

from collections.abc import Sequence

from atc.pages.document import document
from atc.pages.formats import counted, seconds
from atc.pages.markup import Html, join, tag
from atc.serve.view.calls import cut_short
from atc.serve.view.run_page import MADE_BY, PACKAGE, chip, digest, when
from atc.store.stored import StoredRun

_LONGEST_TASK, _LONGEST_ANSWER = 240, 160


def listing(runs: Sequence[StoredRun], *, total: int, live: str) -> str:
    """The page of `runs`, the newest of `total`, whose secrets are placeholders."""
    head = tag("header", tag("p", "atc runs view", class_="kicker"), tag("h1", "Runs"))
    if len(runs) < total:
        older = tag("a", f"show all {total:,}", href="?all=1")
        head = join([head, tag("p", f"The newest {len(runs):,}; ", older, ".", class_="note")])
    shown = {"runs": rows_of(runs)}
    rows = tag("div", *shown.values(), id="parts", data_events=f"{live}seen={digest(shown)}")
    said = tag("p", id="said", class_="sr", aria_live="polite")
    return document(
        join([head, _filter(runs), rows, said], "\n"), title="Runs of atc", made_by=MADE_BY, package=PACKAGE,
        skip="runs", live=True,
    )  # fmt: skip


def rows_of(runs: Sequence[StoredRun]) -> Html:
    """The lines of the list, as the one part of the page that changes."""
    if not runs:
        return tag("div", tag("p", "No run is stored yet; 'atc run TASK' makes one."), id="runs", class_="part")
    return tag("div", tag("ul", *map(_row, runs), class_="runs"), id="runs", class_="part")


def _row(stored: StoredRun) -> Html:
    run = stored.summary
    took = seconds(run.ended - run.created) if run.ended is not None else ""
    facts = [when(run.created), took, counted(run.calls, "call"), counted(run.attempts, "attempt"), run.model]
    about = run.answer if run.answer is not None else run.error
    return tag(
        "li",
        chip(run.status),
        tag("a", cut_short(stored.purpose, _LONGEST_TASK) or "(no task)", href=f"runs/{run.id}", class_="task"),
        tag("span", *(tag("span", fact) for fact in facts if fact), class_="took"),
        tag("span", cut_short(about or "", _LONGEST_ANSWER), class_="answer"),
        tag("code", run.id, class_="id"),
        data_status=run.status,
        data_strategy=run.strategy or None,
        data_model=run.model or None,
    )


def _filter(runs: Sequence[StoredRun]) -> Html:
    summaries = [stored.summary for stored in runs]
    selects = {
        name: sorted({found for run in summaries if (found := getattr(run, name))})
        for name in ("status", "strategy", "model")
    }
    search = {"type": "search", "id": "search", "placeholder": "Search tasks, answers, ids …"}
    controls = [
        tag("input", **search, aria_label="Search the runs"),
        *(
            tag(
                "select",
                tag("option", f"any {name}", value=""),
                *(tag("option", cut_short(value, 60), value=value) for value in values),
                data_filter=name,
                aria_label=name.capitalize(),
            )
            for name, values in selects.items()
            if len(values) > 1
        ),
        tag("button", "Reset", type="reset"),
        tag("output", counted(len(runs), "run"), id="shown", aria_live="polite"),
    ]
    return tag("form", *controls, id="filter", hidden=True, autocomplete="off", role="search")
