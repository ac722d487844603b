"""Answers of the baseball service about teams, franchises, parks, postseasons, awards and schools."""

# Handlers (context, arguments) -> response. Each one is described by its Operation; SQL is put together from names in
# this module only, values are always bound.
# ruff: noqa: D103, S608

from __future__ import annotations

from toolflow_bench.services.baseball.names import find
from toolflow_bench.services.context import Context, Row, paged
from toolflow_bench.services.operation import Arguments

_STATISTICS = """team_id, runs, at_bats, hits, doubles, triples, home_runs, walks, strikeouts, stolen_bases,
    runs_allowed, earned_runs, complete_games, shutouts, saves, home_runs_allowed, errors, double_plays"""
_BATTED = "games, at_bats, runs, hits, home_runs, runs_batted_in, stolen_bases, walks, strikeouts"
_YES_OR_NO = {"Y": True, "N": False, None: None}


def require_team(context: Context, team: str) -> None:
    """Refuse with 404 an id that no team has."""
    context.one("SELECT team_id FROM teams WHERE team_id = ?", team, otherwise=_no_team(team))


def _no_team(team: str) -> str:
    return f"there is no team {team!r}; list_season_teams and list_franchise_seasons give ids."


def list_season_teams(context: Context, arguments: Arguments) -> Row:
    season, league = arguments["season"], arguments["league"]
    sql = "SELECT team_id, name FROM teams WHERE season = ?1 AND league = coalesce(?2, league) ORDER BY name, rowid"
    return {"teams": context.rows(sql, season, league)}


def get_team(context: Context, arguments: Arguments) -> Row:
    sql = """SELECT team_id, season, name, league, division, franchise_id, rank, games, wins, losses, league_champion,
             world_series_winner, attendance FROM teams WHERE team_id = ?"""
    team = context.one(sql, arguments["team_id"], otherwise=_no_team(arguments["team_id"]))
    return {**team, **{name: _YES_OR_NO[team[name]] for name in ("league_champion", "world_series_winner")}}


def get_team_statistics(context: Context, arguments: Arguments) -> Row:
    sql = f"SELECT {_STATISTICS} FROM teams WHERE team_id = ?"
    return context.one(sql, arguments["team_id"], otherwise=_no_team(arguments["team_id"]))


def list_roster(context: Context, arguments: Arguments) -> Row:
    require_team(context, arguments["team_id"])
    of_team = {"team_id = ?": arguments["team_id"]}
    return paged(context, "players", "player_id, games", "rosters", of_team, order="player_id", arguments=arguments)


def list_team_managers(context: Context, arguments: Arguments) -> Row:
    require_team(context, arguments["team_id"])
    sql = "SELECT player_id, sequence FROM managing WHERE team_id = ? ORDER BY sequence, rowid"
    return {"managers": context.rows(sql, arguments["team_id"])}


def list_team_parks(context: Context, arguments: Arguments) -> Row:
    require_team(context, arguments["team_id"])
    sql = """SELECT park_id, games, first_date, last_date, coalesce(attendance, 0) AS attendance
             FROM home_games WHERE team_id = ? ORDER BY games DESC, rowid"""
    return {"parks": context.rows(sql, arguments["team_id"])}


def search_franchises(context: Context, arguments: Arguments) -> Row:
    sql = """SELECT franchise_id, name FROM franchises WHERE franchise_id IN (SELECT value FROM json_each(?))
             ORDER BY name, franchise_id"""
    return {"franchises": context.rows(sql, find(context, "franchise", arguments["query"]))}


def get_franchise(context: Context, arguments: Arguments) -> Row:
    franchise = arguments["franchise_id"]
    missing = f"there is no franchise {franchise!r}; search_franchises finds ids."
    sql = "SELECT franchise_id, name, active FROM franchises WHERE franchise_id = ?"
    found = context.one(sql, franchise, otherwise=missing)
    return {**found, "active": bool(found["active"])}


def list_franchise_seasons(context: Context, arguments: Arguments) -> Row:
    get_franchise(context, arguments)
    conditions = {
        "franchise_id = ?": arguments["franchise_id"],
        "season >= ?": arguments["from_season"],
        "season <= ?": arguments["to_season"],
    }
    order = "season, team_id"
    return paged(context, "seasons", "season, team_id", "teams", conditions, order=order, arguments=arguments)


def get_park(context: Context, arguments: Arguments) -> Row:
    park = arguments["park_id"]
    sql = "SELECT park_id, name, city, state, country FROM parks WHERE park_id = ?"
    return context.one(sql, park, otherwise=f"there is no ballpark {park!r}; list_team_parks gives ids.")


def list_postseason_series(context: Context, arguments: Arguments) -> Row:
    sql = "SELECT series_id, round FROM series WHERE season = ? ORDER BY series_id"
    return {"series": context.rows(sql, arguments["season"])}


def get_postseason_series(context: Context, arguments: Arguments) -> Row:
    series = arguments["series_id"]
    sql = """SELECT series_id, season, round, winner_team_id, loser_team_id, wins, losses, ties
             FROM series WHERE series_id = ?"""
    return context.one(sql, series, otherwise=f"there is no series {series!r}; list_postseason_series gives ids.")


def get_postseason_batting_line(context: Context, arguments: Arguments) -> Row:
    series, player = get_postseason_series(context, arguments)["series_id"], arguments["player_id"]
    sql = f"SELECT series_id, player_id, team_id, {_BATTED} FROM series_batting WHERE series_id = ? AND player_id = ?"
    missing = f"there is no batting of {player!r} in the series {series!r}; list_roster has a team's players."
    return context.one(sql, series, player, otherwise=missing)


def list_awards(context: Context, _arguments: Arguments) -> Row:
    return {"awards": context.rows("SELECT award_id, name FROM awards ORDER BY name")}


def list_award_winners(context: Context, arguments: Arguments) -> Row:
    award = arguments["award_id"]
    missing = f"there is no award {award!r}; list_awards has them."
    context.one("SELECT award_id FROM awards WHERE award_id = ?", award, otherwise=missing)
    sql = "SELECT player_id, league FROM honours WHERE award_id = ? AND season = ? ORDER BY league, rowid"
    return {"winners": context.rows(sql, award, arguments["season"])}


def search_schools(context: Context, arguments: Arguments) -> Row:
    sql = """SELECT school_id, name FROM schools WHERE school_id IN (SELECT value FROM json_each(?))
             ORDER BY name, school_id"""
    return {"schools": context.rows(sql, find(context, "school", arguments["query"]))}


def get_school(context: Context, arguments: Arguments) -> Row:
    school = arguments["school_id"]
    sql = "SELECT school_id, name, city, state, country FROM schools WHERE school_id = ?"
    return context.one(sql, school, otherwise=f"there is no school {school!r}; search_schools finds ids.")


def list_school_players(context: Context, arguments: Arguments) -> Row:
    get_school(context, arguments)
    source = "(SELECT DISTINCT school_id, player_id FROM attendances)"
    conditions = {"school_id = ?": arguments["school_id"]}
    return paged(context, "players", "player_id", source, conditions, order="player_id", arguments=arguments)
