"""Many queries in one file: what is written, what an interruption leaves, and the figures."""

import json

import pytest

from atc.models.scripted import ScriptedModel
from protocols.errors import ModelUnavailable
from tests.anytoolbench_lab import ADD, ANSWER, KEEP, QUERY, RESOLVED, SOLUTION, World, finish
from tests.hierarchy_lab import call, verdict
from toolflow_bench.anytoolbench.suite import figures, lines, make_queries, read_queries
from toolflow_bench.lines import InvalidRunFile

HEADER = {"data": "d", "model": "scripted", "seed": 0}
CAKES = [{"api": "bakery/cakes", "arguments": {}}, SOLUTION[2]]
OTHER = QUERY.replace("film", "cake")
TAKEN = (ADD, finish(), RESOLVED, KEEP)
REFUSED = (ADD, finish(), verdict("unresolved", "no warmth"))
ANOTHER = (
    call("add_API_into_API_pool", apis=["bakery/cakes", "sky/forecast"]),
    finish(query=OTHER, answer="Opera, and 21 degrees.", solution=CAKES),
    RESOLVED,
    KEEP,
)


def run(tmp_path, *replies, count=2, header=HEADER, **options):
    model = ScriptedModel(*replies)
    out = tmp_path / "queries.jsonl"
    made = make_queries(World().constructor(), model, out=out, header=header, count=count, **options)
    return made, out, model


def rows_of(out):
    return [json.loads(line) for line in out.read_text().splitlines()]


def test_queries_stand_behind_a_header_and_refused_ones_keep_their_reason(tmp_path):
    told = []
    made, out, _ = run(tmp_path, *REFUSED, *TAKEN, *TAKEN, *ANOTHER, on_row=told.append)
    header, refused, taken, repeated, another = rows_of(out)
    assert header == {"format": "atc-anytoolbench-1", **HEADER}
    assert (refused["id"], refused["rejected"], refused["detail"]) == ("anytool-0-0000", "unresolved", "no warmth")
    assert refused["query"] == QUERY
    assert (taken["query"], taken["answer"], taken["gold"]) == (QUERY, ANSWER, [one["api"] for one in SOLUTION])
    assert taken["categories"] == ["Movies", "Weather"]
    assert taken["solution"][2] == {**SOLUTION[2], "response": {"city": "Lisbon", "degrees": 21.3}}
    assert (taken["reason"], taken["told"], taken["turns"]) == ("all is there", [], 2)
    assert taken["transcript"][0].startswith("add_API_into_API_pool(apis=['cinema/films', ")
    assert (repeated["rejected"], repeated["detail"]) == (
        "repeated", "anytool-0-0001 has the same text, or takes the same APIs",
    )  # fmt: skip
    assert told == [0, 1, 1, 2]
    assert read_queries(out) == [taken, another]
    assert made == figures(rows_of(out)[1:])
    assert (made.attempts, made.queries, made.rejected) == (4, 2, {"repeated": 1, "unresolved": 1})
    assert (made.categories, made.calls, made.model_calls) == ({"2": 2}, 5, 15)
    assert lines(made)[:3] == [
        "queries  2 of 4 attempts, 5 calls in solutions",
        "span     2 of 2 categories",
        "rejected 1 (repeated), 1 (unresolved)",
    ]


def test_after_an_outage_the_same_call_goes_on_and_makes_nothing_twice(tmp_path):
    with pytest.raises(ModelUnavailable):
        run(tmp_path, *TAKEN, ADD, ModelUnavailable("down"))
    before = (tmp_path / "queries.jsonl").read_bytes()
    assert len(before.splitlines()) == 2
    made, out, model = run(tmp_path, *ANOTHER)
    assert (made.queries, len(model.prompts)) == (2, 4)
    assert out.read_bytes().startswith(before)
    whole = run(tmp_path / "whole", *TAKEN, *ANOTHER)[1]
    assert out.read_bytes() == whole.read_bytes()
    assert run(tmp_path)[0] == made


def test_a_line_that_a_killed_run_left_half_written_is_made_again(tmp_path):
    whole = run(tmp_path / "whole", *TAKEN, *ANOTHER)[1].read_bytes()
    for left in (len(whole) - 5, len(whole) - 1, 12, 0):
        (tmp_path / "queries.jsonl").write_bytes(whole[:left])
        done = len(whole[:left].splitlines()) > 1 and left > 12
        out = run(tmp_path, *(() if done else TAKEN), *ANOTHER)[1]
        assert out.read_bytes() == whole


def test_more_queries_may_be_asked_for_later_and_attempts_have_an_end(tmp_path):
    assert run(tmp_path, *TAKEN, count=1)[0].queries == 1
    assert run(tmp_path, *ANOTHER)[0].queries == 2
    made, _, model = run(tmp_path / "vain", *REFUSED * 4, tries=2)
    assert (made.attempts, made.queries, len(model.prompts)) == (4, 0, 12)
    assert "span" not in "\n".join(lines(made))


def test_other_settings_or_other_files_are_not_continued(tmp_path):
    run(tmp_path, *TAKEN, count=1)
    with pytest.raises(InvalidRunFile, match=r"made otherwise \(seed was 0, is 1\); give another --out"):
        run(tmp_path, header={**HEADER, "seed": 1})
    for content in (
        b"my diary\n",
        b'{"format": "atc-anytoolbench-1"}\n7\n',
        b'{"format": 9}\n',
        b"[]\n",
        b'{"format"\n',
    ):
        (tmp_path / "queries.jsonl").write_bytes(content)
        with pytest.raises(InvalidRunFile, match="give another --out"):
            run(tmp_path)
        assert (tmp_path / "queries.jsonl").read_bytes() == content
    with pytest.raises(InvalidRunFile, match="give a file that 'atc bench data anytool' wrote"):
        read_queries(tmp_path / "none.jsonl")


def test_a_long_response_is_kept_in_short(tmp_path):
    world = World()
    world.answers["sky/forecast"] = {"degrees": 21.3, "hours": list(range(9000))}
    model = ScriptedModel(*TAKEN)
    make_queries(world.constructor(), model, out=tmp_path / "long.jsonl", header=HEADER, count=1)
    kept = read_queries(tmp_path / "long.jsonl")[0]["solution"][2]["response"]
    assert kept.startswith("{'degrees': 21.3, 'hours': [0, 1,")
    assert len(kept) < 25_000


def test_odd_letters_survive(tmp_path):
    odd = finish(query=f"{QUERY} Olé \u2028 \ud800!", answer=ANSWER)
    out = run(tmp_path, ADD, odd, RESOLVED, KEEP, count=1)[1]
    assert len(rows_of(out)) == 2 == len(out.read_bytes().splitlines())
    assert read_queries(out)[0]["query"].startswith(f"{QUERY} Olé")
