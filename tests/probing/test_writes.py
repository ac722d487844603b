"""Writes of a probing."""

from probing.probe import probe
from probing.samples import Log, ProbeSettings
from tests.labs.fake_tools import Fakes, need, refuse


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
