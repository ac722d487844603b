"""Live tools are called again: only reads, with arguments known to be right, and within the budget."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from probing.probe import probe
from probing.recheck import earlier_samples, recheck
from probing.report import write
from probing.samples import Log, ProbeSettings
from protocols.client import Invoker
from protocols.protocol import HttpBinding
from protocols.sources import load_tools
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from tests.labs.loopback import Reply, serving
from tests.labs.tools import tool

FILMS = {
    f"f-{n}3x": {"film_id": f"f-{n}3x", "title": f"Film {n}", "year": 1990 + n} for n in range(1, 5)
}
QUICK = ProbeSettings(requests_per_second=None)


class Films:
    """Films are listed, and one is shown by its id; `change` alters each record."""

    def __init__(self):
        self.change = lambda record: record
        self.status = 200
        self.deleted = 0

    def __call__(self, seen):
        if seen.method == "DELETE":
            self.deleted += 1
            return Reply(200, {})
        if self.status != 200:
            return Reply(self.status, {"detail": "out of order"})
        if seen.path == "/films":
            return Reply(
                200, {"films": [self.change(dict(film)) for film in FILMS.values()], "total": 4}
            )
        name = seen.path.rpartition("/")[2]
        return (
            Reply(200, self.change(dict(FILMS[name])))
            if name in FILMS
            else Reply(404, {"detail": "no film"})
        )


def protocols(url):
    def one(name, method, path, *arguments):
        binding = HttpBinding(method=method, url=url + path)
        return tool(
            name, None, {key: {} for key in arguments}, reads=method == "GET", binding=binding
        ).protocol

    return [
        one("get_film", "GET", "/films/{film_id}", "film_id"),
        one("list_films", "GET", "/films"),
        one("delete_film", "DELETE", "/films/{film_id}", "film_id"),
    ]


@contextmanager
def probed(folder, *, keep_values=False):
    """A service that was probed into `folder`, and an invoker."""
    films = Films()
    with serving(films) as server, Invoker() as invoker:
        with Log(folder) as log:
            toolbox = Toolbox(
                [Tool(protocol=p, call=invoker.bind(p)) for p in protocols(server.url)]
            )
            write(folder, probe(toolbox, log, settings=QUICK), keep_values=keep_values)
        yield films, invoker


def check(folder, invoker, fresh, *, earlier=True, settings=QUICK):
    toolbox = load_tools(str(folder), invoker=invoker)
    with Log(fresh) as log:
        return recheck(
            toolbox, log, settings=settings, earlier=earlier_samples(folder) if earlier else ()
        )


def told(checked):
    return [(c.severity, c.tool, c.kind, c.path) for c in checked.changes]


def test_nothing_changed(tmp_path):
    with probed(tmp_path / "dir") as (films, invoker):
        checked = check(tmp_path / "dir", invoker, tmp_path / "fresh")
    assert (checked.changes, checked.breaking, checked.tools) == ((), False, 3)
    assert checked.calls >= 2
    assert list(checked.unchecked) == ["delete_film"]
    assert films.deleted == 0


@pytest.mark.parametrize("keep_values", [False, True])
def test_examples_give_arguments_without_the_log(tmp_path, keep_values):
    folder = tmp_path / "dir"
    with probed(folder, keep_values=keep_values) as (films, invoker):
        films.change = lambda record: record | {"year": str(record["year"])}
        checked = check(folder, invoker, tmp_path / "fresh", earlier=False)
    assert checked.breaking
    assert ("breaking", "list_films", "type", "films[].year") in told(checked)
    assert ("breaking", "get_film", "type", "year") in told(checked)
    assert "get_film" not in checked.unchecked


def test_a_service_that_is_down_has_not_changed(tmp_path):
    with probed(tmp_path / "dir") as (films, invoker):
        films.status = 500
        checked = check(tmp_path / "dir", invoker, tmp_path / "fresh")
    assert checked.changes == ()
    assert {"get_film", "list_films"} <= set(checked.unchecked)
