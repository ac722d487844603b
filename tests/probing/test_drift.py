"""What changed between a protocol and new answers, by severity."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probing.document import build_protocol
from probing.drift import compare_answers
from probing.tool_facts import learn
from protocols.protocol import Annotations, HttpBinding, ToolProtocol
from tests.labs.probing_tools import sample

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
