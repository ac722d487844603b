"""Writes over real HTTP: what they change is seen, nothing that was there is lost, and what was made is taken away."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from dataclasses import replace
from typing import ClassVar

import pytest

from probing.discover import discover
from probing.gate.caller import Caller, NotCalled
from probing.log import Log
from probing.sample import Origin, Sample, Value
from probing.session import Session
from probing.settings import ProbeSettings
from probing.writes import Writes
from protocols.invoke import Invoker
from protocols.protocol import Annotations, HttpBinding, ToolProtocol
from protocols.sources.operations import annotations_of
from protocols.toolbox import Tool, Toolbox
from tests.loopback import Reply, serving

TEXT = {"type": "string"}


class Board:
    """Notes with comments and pins, a search that only searches, and one that leaves a trace."""

    def __init__(self):
        self.notes = {f"n_{n}{n}k": {"note_id": f"n_{n}{n}k", "text": f"old {n}", "stars": n} for n in (1, 2)}
        self.comments = {name: [] for name in self.notes}
        self.pins = {"n_11k": {"note_id": "n_11k", "rank": 1}}
        self.searches = [{"term": "first"}]
        self.messages = 0
        self.purged = False
        self._made = 0

    def __call__(self, seen):
        body = json.loads(seen.body or b"{}")
        for (method, pattern), handler in self.ROUTES.items():
            found = re.fullmatch(pattern, seen.path)
            if found and method == seen.method:
                status, answer = handler(self, body, *found.groups())
                return Reply(status, answer)
        return Reply(404, {"detail": "no such route"})

    def _id(self, prefix):
        self._made += 1
        return f"{prefix}_{self._made * 7919 % 9973:04d}q"

    def list_notes(self, _):
        return 200, {"notes": list(self.notes.values())}

    def create_note(self, body):
        if not isinstance(body.get("text"), str):
            return 422, {"detail": "argument 'text' is missing; it must be a string."}
        note = {"note_id": self._id("n"), "text": body["text"], "stars": 0}
        self.notes[note["note_id"]] = note
        self.comments[note["note_id"]] = []
        return 201, note

    def get_note(self, _, name):
        return (200, self.notes[name]) if name in self.notes else (404, {"detail": "there is no note of this id."})

    def rename_note(self, body, name):
        if name not in self.notes:
            return 404, {"detail": "there is no note of this id."}
        self.notes[name] = self.notes[name] | {"text": str(body.get("text", ""))}
        return 200, self.notes[name]

    def delete_note(self, _, name):
        if name not in self.notes:
            return 404, {"detail": "there is no note of this id."}
        return 200, self.notes.pop(name)

    def list_comments(self, _, name):
        return (200, {"comments": self.comments[name]}) if name in self.comments else (404, {"detail": "no such note."})

    def add_comment(self, body, name):
        if name not in self.comments:
            return 404, {"detail": "there is no note of this id."}
        comment = {"comment_id": self._id("c"), "words": str(body.get("words", ""))}
        self.comments[name].append(comment)
        return 201, comment

    def list_pins(self, _):
        return 200, {"pins": list(self.pins.values())}

    def pin_note(self, body, name):
        if name not in self.notes:
            return 404, {"detail": "there is no note of this id."}
        self.pins[name] = {"note_id": name, "rank": int(body.get("rank", 1) or 1)}
        return 200, self.pins[name]

    def unpin_note(self, _, name):
        return (200, self.pins.pop(name)) if name in self.pins else (404, {"detail": "it is not pinned."})

    def search_notes(self, body):
        return 200, {"notes": [note for note in self.notes.values() if str(body.get("term", "")) in note["text"]]}

    def search_trends(self, body):
        self.searches.append({"term": str(body.get("term", ""))})
        return 200, {"hits": len(self.searches)}

    def list_trends(self, _):
        return 200, {"trends": self.searches}

    def send_message(self, body):
        self.messages += 1
        return 202, {"accepted": True}

    def purge(self, _):
        self.purged = True
        self.notes.clear()
        return 200, {"purged": True}

    ROUTES: ClassVar = {
        ("GET", "/notes"): list_notes,
        ("POST", "/notes"): create_note,
        ("GET", "/notes/([^/]+)"): get_note,
        ("PATCH", "/notes/([^/]+)"): rename_note,
        ("DELETE", "/notes/([^/]+)"): delete_note,
        ("GET", "/notes/([^/]+)/comments"): list_comments,
        ("POST", "/notes/([^/]+)/comments"): add_comment,
        ("GET", "/pins"): list_pins,
        ("PUT", "/pins/([^/]+)"): pin_note,
        ("DELETE", "/pins/([^/]+)"): unpin_note,
        ("POST", "/notes/search"): search_notes,
        ("POST", "/trends/search"): search_trends,
        ("GET", "/trends"): list_trends,
        ("POST", "/messages"): send_message,
        ("DELETE", "/notes"): purge,
    }


TOOLS = {
    "list_notes": ("GET", "/notes", {}),
    "create_note": ("POST", "/notes", {"text": TEXT}),
    "get_note": ("GET", "/notes/{note_id}", {}),
    "rename_note": ("PATCH", "/notes/{note_id}", {"text": TEXT}),
    "delete_note": ("DELETE", "/notes/{note_id}", {}),
    "list_comments": ("GET", "/notes/{note_id}/comments", {}),
    "add_comment": ("POST", "/notes/{note_id}/comments", {"words": TEXT}),
    "list_pins": ("GET", "/pins", {}),
    "pin_note": ("PUT", "/pins/{note_id}", {"rank": {"type": "integer"}}),
    "unpin_note": ("DELETE", "/pins/{note_id}", {}),
    "search_notes": ("POST", "/notes/search", {"term": TEXT}),
    "search_trends": ("POST", "/trends/search", {"term": TEXT}),
    "list_trends": ("GET", "/trends", {}),
    "send_message": ("POST", "/messages", {"words": TEXT}),
    "clear_notes": ("DELETE", "/notes", {}),
}


def protocol(url, name):
    method, path, properties = TOOLS[name]
    named = re.findall(r"\{(\w+)\}", path)
    return ToolProtocol(
        name=name,
        input_schema={"type": "object", "properties": {**dict.fromkeys(named, TEXT), **properties}, "required": named},
        annotations=annotations_of(method),
        binding=HttpBinding(method=method, url=url + path),
    )


@contextmanager
def probing(folder, board, *names, **settings):
    chosen = ProbeSettings(allow_writes=True, requests_per_second=None, per_tool=30, **settings)
    with serving(board) as server, Invoker() as invoker, Log(folder) as log:
        protocols = [protocol(server.url, name) for name in names or TOOLS]
        toolbox = Toolbox([Tool(protocol=p, call=invoker.bind(p)) for p in protocols])
        session = Session(toolbox, log, Caller(toolbox, log, chosen), chosen)
        yield session


def everything(session):
    """The owner's order: reads, then what makes, then what takes away. Gives why tools were not called."""
    stopped = {}
    for number in range(2):
        for name, known in session.protocols.items():
            if not known.writes:
                discover(session, name, round=number)
    writes = Writes(session)
    for tool in writes.makers():
        writes.make(tool, round=1)
    for tool in writes.removers():
        try:
            writes.remove(tool, round=1)
        except NotCalled as refusal:
            stopped[tool] = str(refusal)
    return writes, stopped


@pytest.fixture(scope="module")
def probed(tmp_path_factory):
    """A board, what was found out of it, why tools were not called, and what is left of it."""
    board = Board()
    with probing(tmp_path_factory.mktemp("probed"), board) as session:
        writes, stopped = everything(session)
        yield board, writes.effects(), stopped, session.ledger.made()


def test_what_was_there_is_as_it_was(probed):
    board, _, _, _ = probed
    fresh = Board()
    assert {name: board.notes.get(name) for name in fresh.notes} == fresh.notes
    assert {name: board.comments.get(name) for name in fresh.notes} == fresh.comments
    assert board.pins["n_11k"] == fresh.pins["n_11k"]


def test_what_was_made_is_taken_away(probed):
    board, _, _, made = probed
    assert set(board.notes) == set(Board().notes)
    assert set(board.pins) == set(Board().pins)
    # The comments stood in a note that is gone; a message cannot be taken back.
    assert {one.tool for one in made if one.there} == {"send_message"}


def test_what_takes_away_without_saying_which_is_never_called(probed):
    board, _, stopped, _ = probed
    assert not board.purged
    assert "without being told which" in stopped["clear_notes"]


def test_a_message_goes_out_once(probed):
    assert probed[0].messages == 1


@pytest.mark.parametrize(
    ("tool", "read_only", "destructive", "idempotent"),
    [
        ("list_notes", True, None, None),
        ("create_note", False, False, False),
        ("rename_note", False, None, True),
        ("delete_note", False, True, True),
        ("add_comment", False, False, False),
        ("pin_note", False, False, True),
        ("unpin_note", False, True, True),
        ("search_notes", True, None, None),
        ("search_trends", False, None, None),
        ("send_message", False, None, None),
        ("clear_notes", False, True, True),
    ],
)
def test_effects(probed, tool, read_only, destructive, idempotent):
    found = probed[1][tool]
    wanted = Annotations(read_only=read_only, destructive=destructive, idempotent=idempotent)
    assert found.annotations == wanted, found.why


def test_effects_say_what_showed_them(probed):
    effects = probed[1]
    assert effects["create_note"].observed == {"destructive", "idempotent", "read_only"}
    assert effects["search_trends"].why["read_only"].endswith("list_trends was not the same after a call")
    assert effects["create_note"].why["idempotent"] == "a second equal call did it once more"
    assert effects["search_notes"].why["read_only"].endswith("showed no change after a call")
    assert effects["clear_notes"].observed == frozenset()


def test_the_read_that_shows_a_write_verifies_it(probed):
    found = {name: e.verified_by.tool for name, e in probed[1].items() if e.verified_by}
    assert found["create_note"] == found["delete_note"] == "list_notes"
    assert found["pin_note"] == found["unpin_note"] == "list_pins"
    assert "send_message" not in found


def test_what_undoes_a_write(probed):
    undone = {name: (e.undone_by.tool, e.undone_by.arguments) for name, e in probed[1].items() if e.undone_by}
    assert undone["create_note"] == ("delete_note", {"note_id": "note_id"})
    assert undone["pin_note"][0] == "unpin_note"


def test_calls_of_a_read_are_kept_for_the_writes_that_it_shows(tmp_path):
    with probing(tmp_path, Board()) as session:
        discover(session, "list_pins", round=0)
        discover(session, "list_trends", round=0)
        writes = Writes(session)
        assert writes.reserved("list_pins") >= 4
        assert writes.reserved("list_trends") >= 4  # `search_trends` is only called like a read
        assert writes.reserved("get_note") == 0  # it has not answered


def test_what_changes_or_takes_away_gets_only_what_was_made(tmp_path):
    board = Board()
    with probing(tmp_path, board, "list_notes", "create_note", "rename_note", "delete_note") as session:
        discover(session, "list_notes", round=0)
        writes, ledger = Writes(session), session.ledger
        with pytest.raises(NotCalled, match="made nothing that it could take"):
            writes.remove("delete_note", round=1)
        writes.make("create_note", round=1)
        made = session.facts("create_note").done[0].response["note_id"]
        for tool in ("rename_note", "delete_note"):
            assert not ledger.refuses(tool, {"note_id": made})
            assert "of nothing that was shown" in ledger.refuses(tool, {"note_id": "n_11k"})


def test_a_write_that_gives_an_old_thing_back_made_nothing(tmp_path):
    """A POST that finds rather than makes: its id was met before, so nothing is taken away."""

    class Finding(Board):
        ROUTES: ClassVar = {**Board.ROUTES, ("POST", "/notes"): lambda self, _: (200, self.notes["n_11k"])}

    board = Finding()
    with probing(tmp_path, board, "list_notes", "create_note", "delete_note") as session:
        _, stopped = everything(session)
    assert set(board.notes) == {"n_11k", "n_22k"}
    assert "made nothing" in stopped["delete_note"]


def test_short_numbers_are_told_apart_by_what_they_are_called(tmp_path):
    """Ids that count from 1 stand as numbers everywhere; only those called ids of notes are notes."""

    class Counting(Board):
        def _id(self, prefix):
            self._made += 1
            return self._made  # 1 and 2 stand as stars of the old notes too

        def delete_note(self, _, name):
            return Board.delete_note(self, _, int(name) if name.isdigit() else name)

        ROUTES: ClassVar = {**Board.ROUTES, ("DELETE", "/notes/([^/]+)"): delete_note}

    board = Counting()
    with probing(tmp_path, board, "list_notes", "create_note", "delete_note") as session:
        everything(session)
    assert set(board.notes) == {"n_11k", "n_22k"}


def test_without_a_thing_of_its_own_nothing_is_altered(tmp_path):
    board = Board()
    with probing(tmp_path, board, "list_notes", "get_note", "rename_note") as session:
        everything(session)
    assert board.notes == Board().notes


def test_a_login_makes_no_user(tmp_path):
    """Its answer holds an id that was never met; the user of that id is not ours to delete."""
    called = []

    def fake(name, method, path, answer):
        known = replace(protocol("http://x.test", "clear_notes"), name=name, annotations=annotations_of(method))
        arguments = dict.fromkeys(re.findall(r"\{(\w+)\}", path), TEXT)
        known = replace(
            known,
            input_schema={"type": "object", "properties": arguments},
            binding=HttpBinding(method=method, url=f"http://x.test{path}"),
        )
        return Tool(protocol=known, call=lambda given: called.append(name) or answer)

    toolbox = Toolbox(
        [
            fake("login", "POST", "/login", {"session": "s-91x", "user_id": "u-553"}),
            fake("delete_user", "DELETE", "/users/{user_id}", {"deleted": True}),
        ]
    )
    settings = ProbeSettings(allow_writes=True, requests_per_second=None)
    with Log(tmp_path) as log:
        _, stopped = everything(Session(toolbox, log, Caller(toolbox, log, settings), settings))
    assert set(called) == {"login"}
    assert "made nothing" in stopped["delete_user"]


def test_a_probing_that_was_cut_off_repeats_no_write(tmp_path):
    board = Board()
    with probing(tmp_path, board) as session:
        everything(session)
        sent = session.log.sent
        lines = (tmp_path / ".probe" / "samples.jsonl").read_text().splitlines(keepends=True)
    with probing(tmp_path, board) as session:
        everything(session)
        assert session.log.sent == sent
    for cut in range(3, len(lines), 24):
        folder = tmp_path / f"cut{cut}"
        (folder / ".probe").mkdir(parents=True)
        (folder / ".probe" / "samples.jsonl").write_text("".join(lines[:cut]))
        with probing(folder, Board()) as session:
            before = [(s.tool, s.plain) for s in session.log.samples]
            everything(session)
            assert [(s.tool, s.plain) for s in session.log.samples][: len(before)] == before


def test_what_a_recording_made_is_not_ours_to_take_away(tmp_path):
    board = Board()
    with probing(tmp_path, board, "list_notes", "create_note", "delete_note") as session:
        made = Sample(
            number=1,
            tool="create_note",
            arguments={"text": Value("recorded", Origin(kind="given"))},
            purpose="recorded",
            response={"note_id": "n_11k", "text": "recorded", "stars": 0},
        )
        session.log.add(made)
        session.take_from(0)
        everything(session)
        removed = {s.plain["note_id"] for s in session.facts("delete_note").done}
    assert set(board.notes) == {"n_11k", "n_22k"}
    assert "n_11k" not in removed
    assert removed
