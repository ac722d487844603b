"""The page of all runs: a line each, with search and filters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from atc.pages.document import document
from atc.pages.markup import Html
from atc.pages.templates import clipped, templates
from atc.serve.view.run_page import MADE_BY, PACKAGE, digest, when
from atc.store.stored import StoredRun

_LIST: Any = templates(PACKAGE).get_template("list.html").module


def listing(runs: Sequence[StoredRun], *, total: int, live: str) -> str:
    """The page of `runs`, the newest of `total`, whose secrets are placeholders. `live` is where changes are told."""
    rows = rows_of(runs)
    values = {name: sorted({getattr(run.summary, name) for run in runs}) for name in ("status", "strategy", "model")}
    selects = {
        name: {"": f"any {name}"} | {value: clipped(value, 60) for value in found if value}
        for name, found in values.items()
        if len(found) > 1
    }
    body = _LIST.page(rows, len(runs), total, f"{live}seen={digest({'runs': rows})}", selects)
    return document(body, title="Runs of atc", made_by=MADE_BY, package=PACKAGE, skip="runs", live=True)


def rows_of(runs: Sequence[StoredRun]) -> Html:
    """The lines of the list, as the one part of the page that changes."""
    return Html(_LIST.rows(runs, when))
