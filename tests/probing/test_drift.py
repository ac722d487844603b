"""What changed between a protocol and new answers, by severity, and the live tools sampled again."""

from __future__ import annotations

import copy
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probing.document import build_protocol
from probing.drift import compare_answers, earlier_samples, recheck
from probing.probe import probe
from probing.report import write
from probing.samples import Log, ProbeSettings
from probing.tool_facts import learn
from protocols.client import Invoker
from protocols.protocol import Annotations, HttpBinding, ToolProtocol
from protocols.sources import load_tools
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from tests.labs.loopback import Reply, serving
from tests.labs.probing_tools import sample
from tests.labs.tools import tool

BARE = ToolProtocol(
    name="find",
    input_schema={
        "type": "object",
        "properties": {"q": {"type": "string"}, "sort": {"enum": ["name", "year"]}},
    },
    annotations=Annotations(read_only=True),
    binding=HttpBinding(method="GET", url="https://api.example.org/films"),
)


def film(number, **changes):
    record = {
        "id": f"f{number}",
        "title": f"Film {number}",
        "year": 1990 + number,
        "crew": {"director": f"d{number}"},
    }
    return record | changes


def answer(*films, total=7):
    return {"films": list(films), "total": total}


OLD_ANSWERS = [answer(film(n), film(n + 10), film(n + 20)) for n in range(1, 6)]


OLD = build_protocol(
    learn(BARE, [sample(n, response, q=f"q{n}") for n, response in enumerate(OLD_ANSWERS, start=1)])
)


def changed(change, times=3):
    """What `compare` says where each record is `change(record)` now."""
    answers = copy.deepcopy(OLD_ANSWERS[:times])
    for response in answers:
        response["films"] = [change(record) for record in response["films"]]
    return said([sample(n, response, q=f"q{n}") for n, response in enumerate(answers, start=1)])


def said(samples, old=OLD):
    return [(c.severity, c.kind, c.path) for c in compare_answers(old, learn(old, samples))]


def without(name):
    return lambda record: {key: value for key, value in record.items() if key != name}


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (without("title"), [("breaking", "removed", "films[].title")]),
        (
            lambda r: without("title")(r) if r["id"] == "f1" else r,
            [("risky", "optional", "films[].title")],
        ),
        (lambda r: r | {"year": str(r["year"])}, [("breaking", "type", "films[].year")]),
        (lambda r: r | {"year": None}, [("risky", "type", "films[].year")]),
        (lambda r: r | {"year": r["year"] + 0.5}, [("risky", "type", "films[].year")]),
        (lambda r: r | {"crew": {}}, [("breaking", "removed", "films[].crew.director")]),
        (lambda r: r | {"colour": True}, [("harmless", "new_field", "films[].colour")]),
        (
            lambda r: without("title")(r) | {"name": r["title"]},
            [("breaking", "removed", "films[].title"), ("harmless", "new_field", "films[].name")],
        ),
    ],
)
def test_a_change_is_found(change, found):
    assert changed(change) == found


def test_new_values_of_an_enum():
    schema = {
        "type": "object",
        "properties": {"state": {"type": "string", "enum": ["open", "done"]}},
    }
    old = ToolProtocol(name="find", output_schema=schema, binding=BARE.binding)
    changes = compare_answers(
        old, learn(old, [sample(1, {"state": "late"}), sample(2, {"state": "open"})])
    )
    assert [(c.severity, c.kind, c.path) for c in changes] == [("risky", "enum", "state")]
    assert '"late"' in changes[0].text


def refused(number, status, error, **arguments):
    return sample(number, status=status, error=error, **(arguments or {"q": f"q{number}"}))


@pytest.mark.parametrize(
    ("samples", "found"),
    [
        ([refused(1, 422, "argument 'language' is missing.")], ("breaking", "refused", "")),
        ([refused(n, 404, "Not Found") for n in (1, 2)], ("breaking", "gone", "")),
        ([refused(1, 400, "no")], ("breaking", "refused", "")),
        ([refused(1, 405, "Method Not Allowed")], ("breaking", "gone", "")),
        ([refused(1, 404, "no film 'a'"), sample(2, OLD_ANSWERS[0], q="b")], ("risky", "not_found", "")),
        ([refused(1, 401, "log in")], ("risky", "denied", "")),
        ([sample(1, status=503, error="down", outcome="unknown", q="a")], None),
        ([refused(1, 200, "a login page came")], ("breaking", "refused", "")),
    ],
)  # fmt: skip
def test_refusals_of_calls_that_were_answered(samples, found):
    assert said(samples) == ([found] if found else [])


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 99) | st.sampled_from(["a", "b", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["p", "q", "r"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.lists(VALUES, min_size=1, max_size=4))
def test_source_answers_never_drift_from_their_protocol(responses):
    samples = [sample(n, response, q=f"q{n}") for n, response in enumerate(responses, start=1)]
    old = build_protocol(learn(BARE, samples))
    assert [c.kind for c in compare_answers(old, learn(old, samples))] == []


# The live tools are sampled again: only reads, with arguments known to be right, and within the budget.


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
