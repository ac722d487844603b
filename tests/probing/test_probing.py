"""Probing through its public interface: replies, schemas, links, and writes over fake tools."""

import json

import pytest
from hypothesis import given as arbitrary
from hypothesis import strategies as st

from probing.document import protocols_of
from probing.error_replies import hints
from probing.infer import infer
from probing.probe import probe
from probing.refusals import refusal_in
from probing.samples import Log, ProbeSettings, Sample
from protocols.validate import validator
from tests.labs.fake_tools import Fakes, need, refuse
from tests.labs.paths import DATA

FREE = ProbeSettings(requests_per_second=None)
NAMES = {name: name for name in ("limit", "sort", "city", "since")}
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


def read(answer, status=422, **sent):
    text = answer if isinstance(answer, str) else json.dumps(answer)
    sample = Sample(number=1, tool="t", outcome="refused", status=status, error=text, answer=text)
    return [(hint.kind, hint.argument) for hint in hints(sample, NAMES)]


REFUSALS = [json.loads(line) for line in (DATA / "refusals.jsonl").read_text().splitlines()]


@pytest.mark.parametrize(
    "case", REFUSALS, ids=[f"{number} {case['of']}" for number, case in enumerate(REFUSALS)]
)
def test_refusals_are_read_without_inventing_arguments(case):
    found = read(case["reply"])
    assert tuple(case["hint"]) in found if case["hint"] else found == []
    assert not case.get("alone") or len(set(found)) == 1


@pytest.mark.parametrize(
    ("response", "said"),
    [
        ({"ok": False, "error": "channel_not_found"}, "channel_not_found"),
        ({"success": False, "message": "sort must be asc or desc"}, "sort must be asc or desc"),
        ({"status": "error", "code": 42, "message": "missing id", "data": None}, "missing id"),
        ({"errors": [{"message": "no field x"}], "data": None}, '[{"message": "no field x"}]'),
    ],
)
def test_refusals_with_status_200_are_recognized(response, said):
    assert refusal_in(response) == said


@pytest.mark.parametrize(
    "response",
    [
        {"ok": True, "error": None, "users": [1]},
        {"status": "failed", "amount": 5, "message": "card declined"},
        {"error": "boom", "job": "j1", "started": "2026-01-01"},
        {"status": "error"},
        {"errors": [{"message": "partly"}], "data": {"a": 1}},
        {"error": 0.02, "value": 3.1},
        {"id": 7, "type": "job", "status": "failed", "description": "nightly"},
        None,
    ],
)
def test_data_that_looks_like_a_refusal_is_data(response):
    assert refusal_in(response) == ""


def test_a_time_zones_id_is_no_time():
    assert read("argument 'since' must be an opaque id of a time zone, got 'x'.") == [
        ("refused", "since")
    ]


def test_other_refusals_stay_quoted(tmp_path):
    fakes = Fakes()
    fakes.add("stats", lambda _: {"n": 1}, "/stats")

    def answer(_):
        raise refuse(400, "the stars are not right")

    fakes.add("ask", answer, "/ask", "city")
    with Log(tmp_path) as log:
        probed = probe(fakes.toolbox, log, settings=FREE)
    (outcome,) = protocols_of(probed)["ask"].errors
    assert "the stars are not right" in outcome.description


@arbitrary(st.lists(JSON, min_size=1, max_size=5))
def test_responses_conform_to_the_inferred_schema(responses):
    schema = validator(infer(responses))
    assert all(map(schema.is_valid, responses))
    assert (
        "id" in infer([{"id": 1}], {"type": "object", "additionalProperties": {}})["properties"]
    ), "`{}` is no map"


def test_list_values_reach_paths_and_become_links(tmp_path):
    plugins = {
        name: {"percent": number, "unit": "s"}
        for number, name in enumerate(("cpu", "fan2", "load", "raid"))
    }
    fakes = Fakes()
    fakes.add("names", lambda _: list(plugins), "/names")

    def one(given):
        if given["plugin"] not in plugins:
            raise refuse(404, "nothing here")
        return plugins[given["plugin"]]

    fakes.add("one", one, "/plugins/{plugin}")
    fakes.add(
        "desks", lambda _: [{"name": "left", "load": 3}, {"name": "right", "load": 4}], "/desks"
    )
    fakes.add(
        "desk", lambda given: one({"plugin": {"left": "cpu"}.get(given["place"])}), "/desks/{place}"
    )
    with Log(tmp_path) as log:
        protocols = protocols_of(probe(fakes.toolbox, log, settings=FREE))
    assert {(link.argument, link.tool, link.path) for link in protocols["one"].links} == {
        ("plugin", "names", "[]")
    }
    assert (
        protocols["desk"].output_schema is not None
    )  # what the list one step above calls its items


def test_sent_values_become_no_types(tmp_path):
    fakes = Fakes()
    fakes.add("scores", lambda _: [{"score": 5}, {"score": 7}], "/scores", "score", strict=False)

    def found(given):
        if len(str(need(given, "words"))) < 3:
            raise refuse(422, "argument 'words' must have at least 3 characters.")
        return {"rows": [{"name": "Lobo"}]}

    fakes.add("found", found, "/found", "words")
    with Log(tmp_path) as log:
        protocols = protocols_of(probe(fakes.toolbox, log, settings=FREE))
    assert protocols["scores"].parameters.keys() == {"score"}
    assert protocols["scores"].parameters["score"].get("type") in (None, "integer")
    assert protocols["found"].parameters["words"]["type"] == "string"


def test_unnamed_write_arguments_copy_known_records(tmp_path):
    there = {
        "id": 1,
        "body": "first",
        "post": 7,
        "kind": "note",
        "url": "/comments/1",
        "pay": {"in": "EUR"},
    }
    comments, fakes = [dict(there)], Fakes()

    def create(given):
        if "body" not in given:
            raise refuse(400, "nothing to say")
        if "url" in given:
            raise refuse(422, "Unknown field 'url'.")
        if given["kind"] != "note":
            raise refuse(400, "body/kind must be equal to one of the allowed values")
        if given.get("pay") != there["pay"]:
            raise refuse(
                400, "body/pay/in is none of ours" if "pay" in given else "'pay' is required"
            )
        comments.append({"id": len(comments) + 1, **given})
        return comments[-1]

    fakes.add("list_comments", lambda _: list(comments), "/comments")
    fakes.add("create_comment", create, "/comments", method="POST", strict=False)
    with Log(tmp_path) as log:
        probed = probe(
            fakes.toolbox, log, settings=ProbeSettings(requests_per_second=None, allow_writes=True)
        )
    sent = [given for name, given in fakes.calls if name == "create_comment"]
    assert any({"body", "post"} <= given.keys() for given in sent)
    assert comments[0] == there
    assert {"kind": "note", "pay": there["pay"]}.items() <= comments[1].items()
    assert all("no_such_argument" not in given for given in sent)
    assert {one["tool"] for one in probed.made} == {"create_comment"}


def test_fields_of_a_record_vanish_with_it(tmp_path):
    albums, photos, fakes = {}, [], Fakes()

    def album(given):
        number = 7001 + len(albums)
        albums[number] = {"id": number, "title": need(given, "title")}
        return albums[number]

    def photo(given):
        if int(given["album_id"]) not in albums:
            raise refuse(404, "no such album")
        photos.append({"id": 90_001 + len(photos), "caption": need(given, "caption")})
        return photos[-1]

    fakes.add("list_albums", lambda _: list(albums.values()), "/albums")
    fakes.add("create_album", album, "/albums", "title", method="POST")
    fakes.add("add_photo", photo, "/albums/{album_id}/photos", "caption", method="POST")
    fakes.add(
        "delete_album",
        lambda given: albums.pop(int(given["album_id"])),
        "/albums/{album_id}",
        method="DELETE",
    )
    with Log(tmp_path) as log:
        made = probe(
            fakes.toolbox, log, settings=ProbeSettings(requests_per_second=None, allow_writes=True)
        ).made
    told = {one["tool"]: (one["removed"], one["why"]) for one in made if one["ids"]}
    assert albums == {}
    assert told["create_album"] == (True, "removed by delete_album")
    assert told["add_photo"] == (True, "removed by delete_album")


def test_a_vague_delete_is_not_called(tmp_path):
    fakes, notes = Fakes(), [{"id": "n1", "text": "mine"}]

    def create(given):
        notes.append({"id": need(given, "id"), "text": "x"})
        return notes[-1]

    fakes.add("list_notes", lambda _: list(notes), "/notes")
    fakes.add("add_note", create, "/notes", "id", method="POST")
    fakes.add(
        "delete_notes", lambda _: notes.clear(), "/notes", "id", method="DELETE"
    )  # it knows no filter
    with Log(tmp_path) as log:
        probed = probe(
            fakes.toolbox, log, settings=ProbeSettings(requests_per_second=None, allow_writes=True)
        )
    assert {"id": "n1", "text": "mine"} in notes
    assert "without being told which" in probed.stopped["delete_notes"]
    assert {one["removed"] for one in probed.made} == {False}


def test_writes_are_allowed_one_by_one(tmp_path):
    fakes = Fakes()
    for name in ("add_note", "add_tag"):
        fakes.add(name, lambda _: {"id": 1}, f"/{name}", "text", method="POST")
    settings = ProbeSettings(requests_per_second=None, allow_writes=frozenset({"add_tag"}))
    with Log(tmp_path) as log:
        probed = probe(fakes.toolbox, log, settings=settings)
    assert {name for name, _ in fakes.calls} == {"add_tag"}
    assert "--allow-writes" in probed.stopped["add_note"]


def test_a_killed_write_is_not_sent_again(tmp_path):
    fakes = Fakes()
    fakes.add("add_tag", lambda _: {"id": 1}, "/tags", method="POST")
    with Log(tmp_path) as log:
        log.intend("add_tag", {}, number=1)
        probed = probe(
            fakes.toolbox, log, settings=ProbeSettings(requests_per_second=None, allow_writes=True)
        )
    assert fakes.calls == []
    assert "cut off" in probed.made[0]["why"]
