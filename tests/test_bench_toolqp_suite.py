"""ToolQP's training data of a whole data set: what is written, what an interruption leaves, and the figures."""

import json
import threading

import pytest

pytest.importorskip("numpy")

from atc.models.scripted import ScriptedModel
from atc.retrieve.base import Hit, Retrieval
from atc.retrieve.document import ToolDocument
from protocols.errors import ModelUnavailable
from toolflow_bench.retrieval.data import RetrievalQuery
from toolflow_bench.toolqp.plans import read_plans
from toolflow_bench.toolqp.settings import Settings
from toolflow_bench.toolqp.suite import lines, make_all, work_path
from toolflow_bench.toolqp.trajectory import Maker
from toolflow_bench.toolqp.work import InvalidWorkFile

DOCUMENTS = {name: ToolDocument(name=name, description=f"about {name[-1]}") for name in ("tool_a", "tool_b", "tool_c")}
QUERIES = [RetrievalQuery(id=f"q{name}", text=f"want {name[-1]}", gold=(name,)) for name in DOCUMENTS]
HEADER = {"model": "teacher", "seed": 0}


class Letters:
    """Finds the tool whose letter is a word of the query."""

    def search(self, query, *, k):
        found = [name for name in DOCUMENTS if name[-1] in query.split()]
        return Retrieval(hits=tuple(Hit(name, 1.0) for name in found[:k]))


def teacher(messages):
    """Writes a query that fits in the second round for `a`, at once for `b`, never for `c`."""
    text = messages[-1].content
    if "Reply with JSON: {" in text:
        return json.dumps({"plan": "A plan.", "goal": "A goal."})
    letter = text.splitlines()[0][-1]
    fits = {"a": f"about {letter}" in text, "b": True, "c": False}[letter]
    return json.dumps({"query": letter if fits else "nothing"})


def run(tmp_path, *, ask=None, queries=QUERIES, header=HEADER, jobs=1, **options):
    ask = ask or ScriptedModel(*[teacher] * 200)
    maker = Maker(Letters(), DOCUMENTS, ask, Settings(candidates=1, keep_failed=1.0))
    out = tmp_path / "data.jsonl"
    figures = make_all(maker, queries, ask=ask, out=out, header=header, jobs=jobs, **options)
    return figures, [json.loads(line) for line in out.read_text().splitlines()]


@pytest.mark.parametrize("jobs", [1, 3])
def test_each_request_is_a_conversation_or_dropped_and_counted(tmp_path, jobs):
    figures, rows = run(tmp_path, jobs=jobs)
    assert [row["id"] for row in rows] == ["qtool_a", "qtool_b"]
    assert {message["role"] for message in rows[0]["messages"]} == {"system", "user", "assistant"}
    assert rows[0]["gold"] == ["tool_a"]
    assert rows[0]["plan"] == "A plan."
    assert rows[0]["steps"][0]["round"] == 2
    assert figures.as_json() == {
        "requests": 3,
        "trajectories": 2,
        "steps": 2,
        "queries": 3,
        "valid": {"1": 1, "2": 1, "3": 0, "4": 0, "5": 0},
        "failed": 1,
        "failed_kept": 1,
        "dropped": {"no valid query": 1},
        "model_calls": 6 + 2 + 1 + 5,
        "input_tokens": figures.input_tokens,
        "output_tokens": figures.output_tokens,
    }
    assert "1 in round 1, 1 in round 2, 0 in round 3" in "\n".join(lines(figures))


@pytest.mark.parametrize("jobs", [1, 2])
def test_after_an_outage_the_same_call_goes_on_and_asks_nothing_twice(tmp_path, jobs):
    failing = ScriptedModel(*[teacher] * 4, *[ModelUnavailable("down")] * 20)
    with pytest.raises(ModelUnavailable):
        run(tmp_path, ask=failing, jobs=jobs)
    before = len(work_path(tmp_path / "data.jsonl").read_text().splitlines()) - 1
    assert len((tmp_path / "data.jsonl").read_text().splitlines()) == before
    again = ScriptedModel(*[teacher] * 200)
    figures, rows = run(tmp_path, ask=again)
    assert figures.trajectories == 2
    whole = ScriptedModel(*[teacher] * 200)
    assert run(tmp_path / "whole", ask=whole)[1] == rows
    assert len(again.prompts) + {0: 0, 1: 4}[before] == len(whole.prompts)


def test_what_is_done_is_not_asked_again_dropped_requests_included(tmp_path):
    first = run(tmp_path)
    assert run(tmp_path, ask=ScriptedModel()) == first


def test_more_requests_of_the_same_data_are_added(tmp_path):
    run(tmp_path, queries=QUERIES[1:2])
    figures, rows = run(tmp_path)
    assert figures.requests == 3
    assert [row["id"] for row in rows] == ["qtool_a", "qtool_b"]


def test_work_of_another_model_is_not_continued(tmp_path):
    run(tmp_path)
    with pytest.raises(InvalidWorkFile, match=r"model was 'teacher', is 'other'.*give another --out"):
        run(tmp_path, header={"model": "other", "seed": 0})


def test_a_line_that_was_cut_is_made_again(tmp_path):
    first = run(tmp_path)
    path = work_path(tmp_path / "data.jsonl")
    path.write_bytes(path.read_bytes()[:-20])
    assert run(tmp_path) == first


@pytest.mark.parametrize(
    "content", ["not JSON\n", "[]\n", '{"format": "other"}\n', '{"format": "atc-toolqp-1"}\n[1]\n', "x"]
)
def test_a_file_of_somebody_else_is_left_alone(tmp_path, content):
    path = work_path(tmp_path / "data.jsonl")
    path.write_text(content)
    with pytest.raises(InvalidWorkFile, match="give another --out"):
        run(tmp_path)
    assert path.read_text() == content


def test_two_processes_do_not_write_one_file(tmp_path):
    entered, leave = threading.Event(), threading.Event()

    def wait(messages):
        entered.set()
        leave.wait(10)
        return teacher(messages)

    thread = threading.Thread(target=run, args=(tmp_path,), kwargs={"ask": ScriptedModel(*[wait] * 200)})
    thread.start()
    try:
        assert entered.wait(10)
        with pytest.raises(InvalidWorkFile, match="another process"):
            run(tmp_path)
    finally:
        leave.set()
        thread.join()


def test_plans_of_the_data_are_read_where_there_are_some(tmp_path):
    path = tmp_path / "data.json"
    queries = [
        {"id": "1", "query": "x", "instruction": "Given a task, retrieve."},
        {"id": "2", "query": "y"},
        {"id": "3", "instruction": "this is the query's text"},
    ]
    path.write_text(json.dumps({"tools": [], "queries": queries}))
    assert read_plans(path) == {"1": "Given a task, retrieve."}
    assert read_plans(tmp_path) == {}
