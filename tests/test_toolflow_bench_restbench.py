"""RestBench: the mock's consistency on an invented API and on the real specifications, and the suite around it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from atc.cli.bench_restbench import restbench
from atc.config import Config
from atc.models.scripted import ScriptedModel
from protocols.errors import AtcError
from protocols.schema import violations
from sandbox.choose import open_sandbox
from toolflow_bench.restbench.data import PRESETS, RestBench, RestTask, items, load_restbench
from toolflow_bench.restbench.document import Document, InvalidData
from toolflow_bench.restbench.entities import Entities
from toolflow_bench.restbench.mock import Mock, Preset
from toolflow_bench.restbench.replay import replay, replay_worker
from toolflow_bench.restbench.world import RestWorld
from toolflow_bench.runner import ask_item
from toolflow_bench.workers import agent_worker

DATA = Path(__file__).parents[2] / "shared" / "data" / "restbench"
BOOKSHOP = json.loads((Path(__file__).parent / "data" / "bookshop.json").read_text())

with_data = pytest.mark.skipif(not DATA.is_dir(), reason="RestBench's data is not here (../shared)")

NOT_EXECUTABLE = {
    "tmdb-30": "starts with an id that nothing gave",
    "tmdb-87": "no answer of its path names a company",
    "tmdb-93": "a search for a movie names no person",
    "spotify-22": "starts with an id that nothing gave",
    "spotify-25": "removes tracks that nothing listed",
    "spotify-36": "the profile names no playlist",
}
"""Gold paths that cannot be followed by ids from answers, whatever the service."""


def call(mock: Mock, name: str, *, body: Any = None, **arguments: Any) -> Any:
    """The answer of an operation; asserts that it is a success."""
    status, answer = send(mock, name, body=body, **arguments)
    assert status < 300, answer
    return answer


def send(mock: Mock, name: str, *, body: Any = None, **arguments: Any) -> tuple[int, Any]:
    operation = mock.document.operations[name]
    path = {key: str(value) for key, value in arguments.items() if "{" + key + "}" in operation.path}
    query = {key: str(value) for key, value in arguments.items() if key not in path}
    return mock.answer(operation, path, query, body)


@pytest.fixture
def shop() -> Mock:
    return Mock(Document(BOOKSHOP, name="bookshop"), preset=Preset(names={"shelf": ("To read",)}))


@pytest.fixture(scope="module")
def bench() -> RestBench:
    return load_restbench(DATA)


@pytest.fixture(scope="module")
def world(bench: RestBench) -> Iterator[RestWorld]:
    with RestWorld(bench) as opened:
        yield opened


# --- the mock, on an API that it was not written for


def test_a_search_finds_what_it_names_and_every_operation_knows_it_by_that_name(shop: Mock) -> None:
    found = call(shop, "GET /search/books", query="The Long Way")["results"]
    assert found[0]["title"] == "The Long Way"
    book = call(shop, "GET /books/{book_id}", book_id=found[0]["id"])
    assert (book["id"], book["title"]) == (found[0]["id"], "The Long Way")
    for other in found[1:]:
        assert "the long way" in other["title"].lower()
    again = call(shop, "GET /search/books", query="the long way")["results"]
    assert [entry["id"] for entry in again] == [entry["id"] for entry in found]
    part = call(shop, "GET /search/books", query="Long Way")["results"]
    assert found[0]["id"] in [entry["id"] for entry in part]


def test_ids_of_nested_objects_are_accepted_and_facts_agree(shop: Mock) -> None:
    listed = call(shop, "GET /search/books", query="Dune")["results"][0]
    book = call(shop, "GET /books/{book_id}", book_id=listed["id"])
    assert {key: book[key] for key in listed.keys() & book.keys()} == {
        k: listed[k] for k in listed.keys() & book.keys()
    }
    publisher = call(shop, "GET /publishers/{id}", id=book["publisher"]["id"])
    assert publisher["name"] == book["publisher"]["name"]
    for writer in call(shop, "GET /books/{book_id}/writers", book_id=book["id"])["writers"]:
        assert call(shop, "GET /writers/{writer_id}", writer_id=writer["id"])["name"] == writer["name"]


def test_relations_hold_from_both_sides(shop: Mock) -> None:
    book = call(shop, "GET /search/books", query="Dune")["results"][0]["id"]
    writers = call(shop, "GET /books/{book_id}/writers", book_id=book)["writers"]
    assert writers
    for writer in writers:
        books = [
            entry["id"]
            for page in (1, 2, 3)
            for entry in call(shop, "GET /writers/{writer_id}/books", writer_id=writer["id"], page=page)["results"]
        ]
        assert book in books
    publisher = call(shop, "GET /books/{book_id}", book_id=book)["publisher"]["id"]
    of_publisher = call(shop, "GET /publishers/{id}/books", id=publisher)["results"]
    assert book in [entry["id"] for entry in of_publisher]
    for entry in of_publisher:
        assert call(shop, "GET /books/{book_id}", book_id=entry["id"])["publisher"]["id"] == publisher


def test_the_same_seed_gives_the_same_world_in_any_order(shop: Mock) -> None:
    other, third = (Mock(shop.document, seed=seed) for seed in (0, 1))
    call(other, "GET /search/books", query="Something else")
    first = [call(mock, "GET /search/books", query="Dune")["results"][0] for mock in (shop, other, third)]
    assert first[0] == first[1]
    assert first[0]["id"] != first[2]["id"]


def test_what_does_not_exist_is_refused_in_the_apis_own_shape(shop: Mock) -> None:
    status, answer = send(shop, "GET /books/{book_id}", book_id=42)
    assert (status, answer["error"]["status"]) == (404, 404)
    assert "no book with the id '42'" in answer["error"]["message"]
    writer = call(shop, "GET /search/writers", query="Ann")["results"][0]["id"]
    assert send(shop, "GET /books/{book_id}", book_id=writer)[0] == 404
    status, answer = send(shop, "GET /search/books")
    assert (status, "'query'" in answer["error"]["message"]) == (400, True)
    assert send(shop, "GET /search/books", query="x", page="two")[0] == 400


def test_chapters_are_numbered_and_end(shop: Mock) -> None:
    book = call(shop, "GET /search/books", query="Dune")["results"][0]["id"]
    count = call(shop, "GET /books/{book_id}", book_id=book)["number_of_chapters"]
    last = call(shop, "GET /books/{book_id}/chapters/{chapter_number}", book_id=book, chapter_number=count)
    assert last["chapter_number"] == count
    for number in (0, count + 1, "x"):
        assert send(shop, "GET /books/{book_id}/chapters/{chapter_number}", book_id=book, chapter_number=number)[0] in (
            400,
            404,
        )


def test_pages_cover_a_list_without_overlap(shop: Mock) -> None:
    first = call(shop, "GET /books/popular")
    assert first["total_results"] > len(first["results"]) > 0
    seen = [
        entry["id"]
        for page in range(1, first["total_pages"] + 1)
        for entry in call(shop, "GET /books/popular", page=page)["results"]
    ]
    assert len(seen) == len(set(seen)) == first["total_results"]
    assert call(shop, "GET /books/popular", page=first["total_pages"] + 1)["results"] == []


def test_writes_show_in_reads_until_the_next_task(shop: Mock) -> None:
    reader = call(shop, "GET /me")["id"]
    book = call(shop, "GET /search/books", query="Dune")["results"][0]["id"]
    before = call(shop, "GET /me/shelves")["shelves"]
    made = call(shop, "POST /readers/{reader_id}/shelves", reader_id=reader, body={"name": "Winter"})
    assert (made["name"], made["owner"]["id"]) == ("Winter", reader)
    assert {s["id"] for s in call(shop, "GET /me/shelves")["shelves"]} == {made["id"], *(s["id"] for s in before)}
    assert call(shop, "GET /shelves/{shelf_id}/books", shelf_id=made["id"])["results"] == []
    call(shop, "POST /shelves/{shelf_id}/books", shelf_id=made["id"], body={"ids": [book]})
    assert [b["id"] for b in call(shop, "GET /shelves/{shelf_id}/books", shelf_id=made["id"])["results"]] == [book]
    call(shop, "PUT /shelves/{shelf_id}", shelf_id=made["id"], body={"name": "Spring"})
    assert call(shop, "GET /shelves/{shelf_id}", shelf_id=made["id"])["name"] == "Spring"
    call(shop, "DELETE /shelves/{shelf_id}/books", shelf_id=made["id"], ids=book)
    assert call(shop, "GET /shelves/{shelf_id}/books", shelf_id=made["id"])["results"] == []
    assert send(shop, "POST /shelves/{shelf_id}/books", shelf_id=made["id"], body={"ids": [7]})[0] in (400, 404)
    call(shop, "DELETE /shelves/{shelf_id}", shelf_id=made["id"])
    assert send(shop, "GET /shelves/{shelf_id}", shelf_id=made["id"])[0] == 404
    shop.reset()
    assert call(shop, "GET /me/shelves")["shelves"] == before
    assert send(shop, "GET /books/{book_id}", book_id=book)[0] == 404


def test_the_account_has_what_the_preset_names(shop: Mock) -> None:
    assert "To read" in [shelf["name"] for shelf in call(shop, "GET /me/shelves")["shelves"]]
    plain = Mock(shop.document)
    assert "To read" not in [shelf["name"] for shelf in call(plain, "GET /me/shelves")["shelves"]]


def test_quoted_booleans_and_numbers_of_a_document_are_read_as_such() -> None:
    quoted = json.loads(json.dumps(BOOKSHOP).replace('"required": true', '"required": "true"'))
    assert Document(quoted, name="quoted").plain == Document(BOOKSHOP, name="plain").plain


# --- the mock, on the real specifications


@with_data
def test_every_answer_conforms_to_its_schema(world: RestWorld) -> None:
    queries = {"type": "artist", "country": "US"}
    for api, mock in world.mocks.items():
        mock.reset()
        for operation in mock.document.operations.values():
            if operation.method != "GET":
                continue
            arguments: dict[str, Any] = {"media_type": "tv", "time_window": "day"}
            if operation.path == "/me/top/{type}":
                arguments["type"] = "tracks"
            for (path, name), kind in mock.kinds.parameters.items():
                if path == operation.path:
                    arguments[name] = 2 if kind in mock.kinds.parts else mock.entities.population(kind)[3].id
            required = [p["name"] for p in operation.parameters if p["in"] == "query" and p.get("required")]
            arguments |= {name: queries.get(name, "Nolan") for name in required}
            answer = call(mock, operation.name, **arguments)
            assert violations(_inlined(mock.document, operation.response), answer) == [], (api, operation.name)


@with_data
@pytest.mark.parametrize("junk", ["", "²", "7", "artist:"])
def test_no_argument_breaks_the_mock(world: RestWorld, junk: str) -> None:
    for mock in world.mocks.values():
        mock.reset()
        for operation in mock.document.operations.values():
            arguments = {str(parameter["name"]): junk for parameter in operation.parameters}
            for (path, name), kind in mock.kinds.parameters.items():
                if path == operation.path and kind not in mock.kinds.parts:
                    arguments[name] = str(mock.entities.population(kind)[0].id)
            fields = mock.document.shape(operation.body).properties
            for body in (junk, dict.fromkeys(fields, junk), {name: [junk, 1, None] for name in fields}):
                assert 200 <= send(mock, operation.name, body=body, **arguments)[0] < 500


@with_data
def test_tmdb_knows_the_same_people_in_films_and_films_of_people(world: RestWorld) -> None:
    tmdb = world.mocks["tmdb"]
    tmdb.reset()
    person = call(tmdb, "GET /search/person", query="Nolan")["results"][0]
    assert person["name"] == "Nolan"
    films = call(tmdb, "GET /person/{person_id}/movie_credits", person_id=person["id"])["crew"]
    crew = call(tmdb, "GET /movie/{movie_id}/credits", movie_id=films[0]["id"])["crew"]
    mine = next(entry for entry in crew if entry["id"] == person["id"])
    assert (mine["name"], mine["job"], mine["credit_id"]) == ("Nolan", films[0]["job"], films[0]["credit_id"])
    credit = call(tmdb, "GET /credit/{credit_id}", credit_id=mine["credit_id"])
    assert credit["person"] == {"id": person["id"], "name": "Nolan"}
    assert send(tmdb, "GET /movie/{movie_id}", movie_id=550)[1]["status_code"] == 404


@with_data
def test_tmdb_trending_gives_ids_of_the_kind_that_was_asked_for(world: RestWorld) -> None:
    tmdb = world.mocks["tmdb"]
    for kind, operation in (("tv", "GET /tv/{tv_id}"), ("movie", "GET /movie/{movie_id}")):
        found = call(tmdb, "GET /trending/{media_type}/{time_window}", media_type=kind, time_window="day")["results"][0]
        shown = call(tmdb, operation, **{f"{kind}_id": found["id"]})
        assert [shown[key] for key in ("name", "title") if key in shown] == [
            found[key] for key in ("name", "title") if key in found
        ]


@with_data
def test_spotify_player_keeps_what_is_done_to_it(world: RestWorld) -> None:
    spotify = world.mocks["spotify"]
    spotify.reset()
    assert call(spotify, "GET /me/player")["is_playing"] is True
    call(spotify, "PUT /me/player/pause")
    call(spotify, "PUT /me/player/volume", volume_percent=60)
    call(spotify, "PUT /me/player/repeat", state="track")
    player = call(spotify, "GET /me/player")
    assert (player["is_playing"], player["device"]["volume_percent"], player["repeat_state"]) == (False, 60, "track")
    assert player["device"]["name"] == "My PC"
    track = call(spotify, "GET /search", q="Mojito", type="track")["tracks"]["items"][0]
    call(spotify, "POST /me/player/queue", uri=track["uri"])
    queue = call(spotify, "GET /me/player/queue")
    assert (queue["queue"][-1]["id"], queue["currently_playing"]["id"]) == (track["id"], player["item"]["id"])
    call(spotify, "POST /me/player/next")
    assert call(spotify, "GET /me/player/currently-playing")["item"]["id"] == queue["queue"][0]["id"]
    call(spotify, "PUT /me/player/play", body={"uris": [track["uri"]]})
    assert call(spotify, "GET /me/player/currently-playing")["item"]["name"] == "Mojito"


@with_data
@pytest.mark.parametrize(
    ("things", "key", "inner"), [("tracks", "items", "track"), ("albums", "items", "album"), ("following", "", "")]
)
def test_spotify_library_keeps_what_is_saved(world: RestWorld, things: str, key: str, inner: str) -> None:
    spotify = world.mocks["spotify"]
    spotify.reset()
    kind = inner or "artist"
    found = call(spotify, "GET /search", q="Mojito", type=kind)[f"{kind}s"]["items"][0]["id"]
    typed = {} if inner else {"type": "artist"}

    def saved() -> list[str]:
        shown = call(spotify, f"GET /me/{things}", **typed)
        return [e[inner]["id"] for e in shown[key]] if inner else [e["id"] for e in shown["artists"]["items"]]

    before = saved()
    assert found not in before
    call(spotify, f"PUT /me/{things}", ids=found, **typed)
    assert found in saved()
    call(spotify, f"DELETE /me/{things}", ids=found, **typed)
    assert saved() == before


# --- the gold paths


@with_data
def test_gold_paths_run_end_to_end_on_the_mock(bench: RestBench, world: RestWorld) -> None:
    assert (len(bench.tasks), bench.lacking) == (157, ())
    stopped = {}
    with replay_worker(lambda: nullcontext(world))() as worker:
        rows = [
            ask_item(item, worker, seed=0, repeat=0, timeout_seconds=None)
            for item in items(bench, world.toolbox, seed=0)
        ]
    for row in rows:
        assert row.status in ("solved", "failed"), row.error
        if row.status == "failed":
            stopped[row.id] = row.answer
        else:
            assert (row.path, row.precision, row.cp) == (1.0, 1.0, True), row.id
            assert all(made["error"] is None for made in row.made)
    assert stopped.keys() == NOT_EXECUTABLE.keys(), stopped
    assert all("no answer before it holds" in str(reason) for reason in stopped.values()), stopped


@with_data
def test_the_replay_notices_a_mock_that_forgets(
    bench: RestBench, world: RestWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = {item.question.id: item for item in items(bench, world.toolbox, seed=0)}
    assert replay(world, asked["tmdb-0"]).status == "solved"
    monkeypatch.setattr(Entities, "find", lambda _self, _identifier: None)
    world.reset()
    solution = replay(world, asked["tmdb-0"])
    assert solution.status == "failed"
    assert "404" in str(solution.answer)


# --- the suite


@with_data
def test_each_task_has_twenty_candidates_with_its_gold_tools(bench: RestBench, world: RestWorld) -> None:
    asked = items(bench, world.toolbox, seed=3)
    for item in asked:
        assert len(set(item.candidates)) == len(item.candidates) == 20
        assert set(item.gold) <= set(item.candidates)
        assert {world.toolbox[alias].source for alias in item.candidates} == set(item.services)
    assert asked == items(bench, world.toolbox, seed=3)
    assert [i.candidates for i in asked] != [i.candidates for i in items(bench, world.toolbox, seed=4)]


@with_data
def test_a_gold_step_that_the_specification_lacks_is_told_and_left_out(tmp_path: Path, world: RestWorld) -> None:
    _copy(tmp_path)
    rows = json.loads((tmp_path / "tmdb_tasks.json").read_text())
    rows[0]["gold_path"] = [" get /search/person", "GET /person/{id}/awards", "GET /person/{movie_id}/movie_credits/"]
    (tmp_path / "tmdb_tasks.json").write_text(json.dumps(rows))
    changed = load_restbench(tmp_path)
    assert changed.lacking == (("tmdb-0", "GET /person/{id}/awards"),)
    first = items(changed, world.toolbox, seed=0)[0]
    assert first.gold == items(load_restbench(DATA), world.toolbox, seed=0)[0].gold


@with_data
def test_an_agent_is_measured_by_its_path(bench: RestBench) -> None:
    program = (
        "```python\npeople = GET_search_person(query='Sofia Coppola')\n"
        "films = GET_person_person_id_movie_credits(person_id=people['results'][0]['id'])\n"
        "print(len(films['crew']))\n```"
    )
    task = RestTask(id="t", query="How many films did Sofia Coppola make?", gold=bench.tasks[0].gold, api="tmdb")
    one = replace(bench, tasks=(task,), documents={"tmdb": bench.documents["tmdb"]})
    with RestWorld(one) as world:
        item = items(one, world.toolbox, seed=0)[0]
    sandbox = open_sandbox("trusted", policy=Config().policy)
    try:
        opened = agent_worker(
            lambda: RestWorld(one),
            ask=ScriptedModel(*[program] * 9),
            sandbox=sandbox,
            config=Config(samples=1),
        )
        with opened() as worker:
            row = ask_item(item, worker, seed=0, repeat=0, timeout_seconds=60)
    finally:
        sandbox.close()
    assert (row.status, row.path, row.precision, row.cp) == ("solved", 1.0, 1.0, True), row
    assert int(str(row.answer)) > 0


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("tmdb_oas.json", None, "cannot read"),
        ("tmdb_oas.json", "{", "is not JSON"),
        ("tmdb_oas.json", "[]", "no OpenAPI document"),
        ("tmdb_oas.json", '{"paths": {}}', "no operation in it"),
        ("tmdb_oas.json", '{"paths": {"/x": {"get": {"responses": 5}}}}', "is no OpenAPI document"),
        ("tmdb_tasks.json", json.dumps([{"id": "a", "query": "b", "gold_path": ["GET /x"]}] * 2), "stands twice"),
        ("tmdb_tasks.json", "{}", "must be a list of tasks"),
        ("tmdb_tasks.json", '[{"id": "a", "gold_path": ["GET /x"]}]', "task 0: 'query' must be a text"),
        ("tmdb_tasks.json", '[{"id": "a", "query": "b", "gold_path": ["x"]}]', "'gold_path' must be a list such as"),
    ],
)
def test_broken_data_is_a_clear_sentence(tmp_path: Path, file: str, content: str | None, said: str) -> None:
    (tmp_path / "tmdb_oas.json").write_text(json.dumps(BOOKSHOP))
    (tmp_path / "tmdb_tasks.json").write_text('[{"id": "a", "query": "b", "gold_path": ["GET /me"]}]')
    assert load_restbench(tmp_path, ("tmdb",)).tasks[0].id == "a"
    if content is None:
        (tmp_path / file).unlink()
    else:
        (tmp_path / file).write_text(content)
    with pytest.raises(InvalidData, match=said) as caught:
        load_restbench(tmp_path, ("tmdb",))
    assert file in str(caught.value)


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    for variable in [name for name in os.environ if name.startswith(("ATC_", "OPENAI_"))]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    monkeypatch.setenv("ATC_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            restbench(arguments, standalone_mode=False)
        captured = capsys.readouterr()
        return int(ended.value.code or 0), captured.out, captured.err

    return run


@with_data
def test_the_command_reports_by_api_and_goes_on_where_it_was(command, tmp_path: Path) -> None:
    arguments = ("--data", str(DATA), "--api", "tmdb", "--strategy", "gold", "--out", "rows.jsonl", "--json")
    code, out, _ = command(*arguments, "--limit", "2")
    assert code == 0
    shown: Mapping[str, Any] = json.loads(out)["apis"]["tmdb"]
    assert (shown["answered"], shown["cp"]["mean"], shown["path"]["mean"], shown["precision"]["mean"]) == (2, 1, 1, 1)
    assert "success" not in shown
    code, _, err = command(*arguments[:-1], "--limit", "3", "--jobs", "2")
    assert (code, err.count("CP yes")) == (0, 1)
    assert len((tmp_path / "rows.jsonl").read_text().splitlines()) == 4


def test_without_its_data_the_command_says_what_to_give() -> None:
    with pytest.raises(AtcError, match="give --data the folder with RestBench's"):
        restbench(["--data", "nowhere"], standalone_mode=False)


def test_presets_say_nothing_of_single_tasks() -> None:
    assert PRESETS.keys() == {"spotify"}
    assert sum(map(len, PRESETS["spotify"].names.values())) == 3


def _copy(folder: Path) -> None:
    for file in DATA.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())


def _inlined(document: Document, schema: Any, above: tuple[str, ...] = ()) -> Any:
    """A schema with its references followed and `nullable` as JSON Schema says it."""
    if isinstance(schema, list):
        return [_inlined(document, part, above) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if isinstance(ref := schema.get("$ref"), str):
        return {} if ref in above else _inlined(document, document.target(schema), (*above, ref))
    result = {key: _inlined(document, part, above) for key, part in schema.items()}
    if result.get("nullable") and isinstance(result.get("type"), str):
        result["type"] = [result["type"], "null"]
    return result
