"""Things known by what they were made with: names, records and paths. What was there before stays as it was."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from probing.caller import Caller
from probing.probe import Probed, probe
from probing.samples import Log, ProbeSettings
from protocols.errors import ToolError
from protocols.protocol import McpBinding
from protocols.schema import Json, JsonObject
from tests.labs.fake_tools import Fakes
from tests.labs.tools import tool

TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT}


def several(**fields: Any) -> JsonObject:
    return {
        "type": "array",
        "items": {"type": "object", "properties": fields, "required": list(fields)},
    }


class Server(Fakes):
    """Tools as an MCP server has them: argument schemas, a hint that some only read, errors in words."""

    def offer(self, answer: Callable[..., Json], *, reads: bool = False, **arguments: Any) -> None:
        binding = McpBinding(server="fake", tool=answer.__name__)
        made = tool(
            answer.__name__, lambda given: answer(**given), arguments, reads=reads, binding=binding
        )
        self.take(made.protocol, made.call)

    def probed(self, folder: Path) -> Probed:
        chosen = ProbeSettings(requests_per_second=None, allow_writes=True)
        with Log(folder) as log:
            caller = Caller(self.toolbox, log, chosen, sleep=lambda _: None)
            return probe(self.toolbox, log, settings=chosen, caller=caller)

    def given_to(self, tool: str) -> list[JsonObject]:
        return [arguments for name, arguments in self.calls if name == tool]


def fail(words: str) -> ToolError:
    return ToolError(None, words, outcome="refused", answer=words)


class Graph(Server):
    """People and who knows whom. A person who is there already is left as they are, and the call is done."""

    def __init__(self, *people: str, readable: bool = True) -> None:
        super().__init__()
        self.people = {name: {"name": name, "kind": "person", "notes": ["old"]} for name in people}
        self.ties: list[JsonObject] = (
            [{"from": "Ann", "to": "Ben", "tie": "knows"}] if people else []
        )
        if readable:
            self.offer(self.read_graph, reads=True)
        ties = several(**{"from": TEXT, "to": TEXT, "tie": TEXT})
        self.offer(self.delete_persons, personNames=TEXTS)
        self.offer(self.delete_ties, ties=ties)
        self.offer(self.delete_notes, deletions=several(personName=TEXT, notes=TEXTS))
        self.offer(self.create_persons, persons=several(name=TEXT, kind=TEXT, notes=TEXTS))
        self.offer(self.create_ties, ties=ties)
        self.offer(self.add_notes, notes=several(personName=TEXT, contents=TEXTS))

    def read_graph(self) -> Json:
        return {"persons": [dict(one) for one in self.people.values()], "ties": list(self.ties)}

    def create_persons(self, persons: list[Any]) -> Json:
        new = [one for one in persons if one["name"] not in self.people]
        self.people |= {one["name"]: {**one, "notes": list(one["notes"])} for one in new}
        return {"persons": persons}

    def create_ties(self, ties: list[Any]) -> Json:
        self.ties += [tie for tie in ties if tie not in self.ties]
        return {"ties": ties}

    def add_notes(self, notes: list[Any]) -> Json:
        for one in notes:
            if one["personName"] not in self.people:
                raise fail(f"there is no person '{one['personName']}'")
            self.people[one["personName"]]["notes"] += one["contents"]
        return {"results": notes}

    def delete_persons(self, personNames: list[str]) -> Json:  # noqa: N803 - the server's own name
        for name in personNames:
            self.people.pop(name, None)
        return {"success": True}

    def delete_ties(self, ties: list[Any]) -> Json:
        self.ties = [tie for tie in self.ties if tie not in ties]
        return {"success": True}

    def delete_notes(self, deletions: list[Any]) -> Json:
        for one in deletions:
            person = self.people.get(one["personName"], {"notes": []})
            person["notes"] = [note for note in person["notes"] if note not in one["notes"]]
        return {"success": True}


def documented(probed: Probed) -> set[str]:
    return {name for name, facts in probed.facts.items() if facts.fruitful}


def test_lists_show_what_was_made(tmp_path: Path) -> None:
    graph = Graph()
    probed = graph.probed(tmp_path)
    assert documented(probed) == set(probed.facts)
    assert graph.people == {}
    assert graph.ties == []
    assert all(one["removed"] for one in probed.made)
    made = graph.given_to("create_persons")[0]["persons"][0]
    assert graph.given_to("delete_persons")[0] == {"personNames": [made["name"]]}
    assert graph.given_to("delete_ties")[0] == graph.given_to("create_ties")[0]
    added = graph.given_to("add_notes")[0]["notes"][0]
    assert {"personName": added["personName"], "notes": added["contents"]} in [
        deletion for call in graph.given_to("delete_notes") for deletion in call["deletions"]
    ]


@pytest.mark.parametrize("people", [("Ann", "Ben"), ("test", "a", "example", "hello", "Ann")])
def test_what_was_there_stays(tmp_path: Path, people: tuple[str, ...]) -> None:
    graph = Graph(*people)
    graph.probed(tmp_path)
    assert set(people) <= graph.people.keys()
    assert all("old" in graph.people[name]["notes"] for name in people)
    assert {"from": "Ann", "to": "Ben", "tie": "knows"} in graph.ties


class Files(Server):
    """Files in a folder, of which answers show names alone."""

    ROOT = "/srv/data"

    def __init__(self, *, writable: bool = True) -> None:
        super().__init__()
        self.files = {"a.txt": "one", "b.txt": "two"}
        self.lost: list[str] = []
        path = {**TEXT, "examples": [self.ROOT]}
        self.offer(self.list_folder, reads=True, path=path)
        self.offer(
            self.read_file, reads=True, path={**TEXT, "examples": [self.ROOT, f"{self.ROOT}/a.txt"]}
        )
        self.offer(self.move_file, source=TEXT, destination=TEXT)
        if writable:
            self.offer(self.write_file, path=TEXT, content=TEXT)
        self.offer(self.delete_file, path=TEXT)

    def _name(self, path: str) -> str:
        full = path if path.startswith("/") else f"{self.ROOT}/{path}"
        if full != self.ROOT and not full.startswith(f"{self.ROOT}/"):
            raise fail(
                f"Access denied - path outside allowed directories: {path} not in {self.ROOT}"
            )
        return full.removeprefix(self.ROOT).strip("/")

    def _file(self, path: str, doing: str) -> str:
        name = self._name(path)
        if not name:
            raise fail("EISDIR: illegal operation on a directory, read")
        if name not in self.files:
            raise fail(f"ENOENT: no such file or directory, {doing} '{self.ROOT}/{name}'")
        return name

    def list_folder(self, path: str) -> Json:
        if self._name(path):
            raise fail(f"ENOTDIR: not a directory, scandir '{self.ROOT}/{self._name(path)}'")
        return {"content": "\n".join(f"[FILE] {self.ROOT}/{name}" for name in self.files)}

    def read_file(self, path: str) -> Json:
        return {"content": self.files[self._file(path, "open")]}

    def write_file(self, path: str, content: str) -> Json:
        name = self._name(path)
        if not name:
            raise fail("EISDIR: illegal operation on a directory, open")
        if name in ("a.txt", "b.txt"):
            self.lost.append(name)
        self.files[name] = content
        return {"content": f"wrote {path}"}

    def move_file(self, source: str, destination: str) -> Json:
        name, to = self._file(source, "rename"), self._name(destination)
        if to in self.files or not to:
            raise fail(f"Destination already exists: {self.ROOT}/{to}")
        self.files[to] = self.files.pop(name)
        return {"content": f"moved {source} to {destination}"}

    def delete_file(self, path: str) -> Json:
        name = self._file(path, "unlink")
        return {"content": f"deleted {name} of {len(self.files.pop(name))} characters"}


def test_only_own_files_are_deleted(
    tmp_path: Path,
) -> None:
    files = Files()
    probed = files.probed(tmp_path)
    assert {"write_file", "move_file", "read_file", "list_folder", "delete_file"} <= documented(
        probed
    )
    assert (files.lost, files.files) == ([], {"a.txt": "one", "b.txt": "two"})


def test_what_was_only_moved_here_is_not_deleted(tmp_path: Path) -> None:
    files = Files(writable=False)
    files.probed(tmp_path)
    assert sorted(files.files.values()) == ["one", "two"]
    assert files.given_to("delete_file") == []


class Library(Server):
    """Loans that point to books by a word that says nothing of ids."""

    def __init__(self) -> None:
        super().__init__()
        self.offer(self.list_books, reads=True)
        self.offer(self.create_loan, book=TEXT, member=TEXT)

    def list_books(self) -> Json:
        return [{"id": "bk-1", "title": "Emma"}, {"id": "bk-2", "title": "Walden"}]

    def create_loan(self, book: str, member: str) -> Json:
        if book not in ("bk-1", "bk-2"):
            raise fail("no such book")
        return {"loan_id": "ln-1", "book": book, "member": member}


def test_arguments_named_for_a_record_get_ids(tmp_path: Path) -> None:
    assert "create_loan" in documented(Library().probed(tmp_path))


def test_apparent_reads_show_what_was_made(tmp_path: Path) -> None:
    server, notes = Server(), {"n1": "old"}

    def list_notes() -> Json:
        return [{"id": key, "text": text} for key, text in notes.items()]

    def add_note(text: str) -> Json:
        return {"id": (key := f"n{len(server.calls) + 100}"), "text": notes.setdefault(key, text)}

    def drop_note(note_id: str) -> Json:
        return {"dropped": notes.pop(note_id)}

    def plural_of(text: str) -> Json:
        return {"plural": f"{text}s"}

    server.offer(list_notes)
    server.offer(drop_note, note_id=TEXT)
    for writes in (add_note, plural_of):
        server.offer(writes, text=TEXT)
    why = {one["tool"]: one["why"] for one in server.probed(tmp_path).made}
    assert notes == {"n1": "old"}
    assert why == {
        "add_note": "removed by drop_note",
        "plural_of": "nothing tells whether it made anything",
    }
