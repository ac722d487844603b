"""Answers of the baseball service about players: one indexed query or two each."""

# Handlers (context, arguments) -> response. Each one is described by its Operation; SQL is put together from names in
# this module only, values are always bound.
# ruff: noqa: D103, S608

from __future__ import annotations

from toolflow_bench.services.baseball.names import find
from toolflow_bench.services.baseball.team_queries import require_team
from toolflow_bench.services.context import Context, Row, paged
from toolflow_bench.services.operation import Arguments

_PLAYER = """player_id, name, given_name, birth_year, birth_month, birth_day, birth_city, birth_state, birth_country,
    death_year, weight_lb, height_in, bats, throws, debut, final_game"""
_BATTED = "games at_bats runs hits doubles triples home_runs runs_batted_in stolen_bases walks strikeouts"
_PITCHED = (
    "wins losses games games_started complete_games shutouts saves outs hits earned_runs home_runs walks strikeouts"
)
_MANAGED = "games wins losses"


def require_player(context: Context, player: str) -> None:
    """Refuse with 404 an id that no player has, so that a slip does not read as 'nothing found'."""
    missing = f"there is no player {player!r}; search_players finds ids."
    context.one("SELECT player_id FROM players WHERE player_id = ?", player, otherwise=missing)


def search_players(context: Context, arguments: Arguments) -> Row:
    among = {"player_id IN (SELECT value FROM json_each(?))": find(context, "player", arguments["query"])}
    columns, order = "player_id, name, birth_year", "name, birth_year, player_id"
    return paged(context, "players", columns, "players", among, order=order, arguments=arguments)


def get_player(context: Context, arguments: Arguments) -> Row:
    player = arguments["player_id"]
    sql = f"SELECT {_PLAYER} FROM players WHERE player_id = ?"
    return context.one(sql, player, otherwise=f"there is no player {player!r}; search_players finds ids.")


def list_player_seasons(context: Context, arguments: Arguments) -> Row:
    require_player(context, arguments["player_id"])
    sql = "SELECT season, team_id, games FROM rosters WHERE player_id = ? ORDER BY season, stint, rowid"
    return {"seasons": context.rows(sql, arguments["player_id"])}


def _line(context: Context, table: str, fields: str, arguments: Arguments, *, otherwise: str) -> Row:
    """The sums over the stints of a player with a team, which are nearly always one."""
    player, team = arguments["player_id"], arguments["team_id"]
    require_player(context, player)
    require_team(context, team)
    sums = ", ".join(f"sum({name}) AS {name}" for name in fields.split())
    sql = f"SELECT player_id, team_id, {sums} FROM {table} WHERE player_id = ? AND team_id = ? GROUP BY player_id"
    return context.one(sql, player, team, otherwise=otherwise)


def get_batting_line(context: Context, arguments: Arguments) -> Row:
    return _line(context, "batting", _BATTED, arguments, otherwise=_never("play", arguments))


def get_pitching_line(context: Context, arguments: Arguments) -> Row:
    return _line(context, "pitching", _PITCHED, arguments, otherwise=_never("pitch", arguments))


def get_managing_record(context: Context, arguments: Arguments) -> Row:
    missing = f"{arguments['player_id']!r} did not manage {arguments['team_id']!r}; list_team_managers has who did."
    return _line(context, "managing", _MANAGED, arguments, otherwise=missing)


def _never(verb: str, arguments: Arguments) -> str:
    player, team = arguments["player_id"], arguments["team_id"]
    return f"{player!r} did not {verb} for {team!r}; list_player_seasons has the player's teams."


def list_player_series(context: Context, arguments: Arguments) -> Row:
    require_player(context, arguments["player_id"])
    sql = """SELECT series_id, player_id, season FROM series_batting JOIN series USING (series_id)
             WHERE player_id = ? ORDER BY season, series_id"""
    return {"series": context.rows(sql, arguments["player_id"])}


def list_player_awards(context: Context, arguments: Arguments) -> Row:
    require_player(context, arguments["player_id"])
    sql = "SELECT award_id, season, league FROM honours WHERE player_id = ? ORDER BY season, rowid"
    return {"awards": context.rows(sql, arguments["player_id"])}


def list_player_salaries(context: Context, arguments: Arguments) -> Row:
    require_player(context, arguments["player_id"])
    sql = "SELECT season, team_id, salary_usd FROM salaries WHERE player_id = ? ORDER BY season, rowid"
    return {"salaries": context.rows(sql, arguments["player_id"])}


def list_hall_of_fame_votes(context: Context, arguments: Arguments) -> Row:
    require_player(context, arguments["player_id"])
    sql = """SELECT year, voted_by, ballots, needed, votes, inducted, category
             FROM ballots WHERE player_id = ? ORDER BY year, rowid"""
    votes = context.rows(sql, arguments["player_id"])
    return {"votes": [{**vote, "inducted": vote["inducted"] == "Y"} for vote in votes]}


def list_player_schools(context: Context, arguments: Arguments) -> Row:
    require_player(context, arguments["player_id"])
    sql = "SELECT school_id, year FROM attendances WHERE player_id = ? ORDER BY year, rowid"
    return {"schools": context.rows(sql, arguments["player_id"])}
