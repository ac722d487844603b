"""Parameters of the baseball service. One thing has one name in every operation, so that values and links line up."""

from __future__ import annotations

from typing import Any

from protocols.jsontypes import Json
from toolflow_bench.services.baseball import fields as fields
from toolflow_bench.services.operation import Parameter


def _whole(minimum: int, maximum: int, *, default: Json = None) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "integer", "minimum": minimum, "maximum": maximum}
    return schema if default is None else {**schema, "default": default}


def _optional(name: str, schema: Any, description: str) -> Parameter:
    return Parameter(name=name, schema=schema, description=description, required=False)


_PLAYER = "Id of the player; search_players finds it by name, rosters and winners' lists give it."
_YEARS = _whole(1871, 2020)

QUERY = Parameter(
    name="query",
    schema={"type": "string", "minLength": 3, "maxLength": 80},
    description="Words of the name, in any order and case; each may be the beginning of a word.",
)
PLAYER = Parameter(name="player_id", schema=fields.PLAYER_ID, description=_PLAYER)
TEAM = Parameter(
    name="team_id",
    schema=fields.TEAM_ID,
    description="Id of the team in one season, as list_season_teams, list_franchise_seasons or list_player_seasons "
    "gives it. Another season of the same team has another id.",
)
FRANCHISE = Parameter(
    name="franchise_id", schema=fields.FRANCHISE_ID, description="Id of the franchise; search_franchises finds it."
)
PARK = Parameter(name="park_id", schema=fields.PARK_ID, description="Id of the ballpark, as list_team_parks gives it.")
SCHOOL = Parameter(name="school_id", schema=fields.SCHOOL_ID, description="Id of the school; search_schools finds it.")
AWARD = Parameter(name="award_id", schema=fields.AWARD_ID, description="Id of the award, as list_awards gives it.")
SERIES = Parameter(
    name="series_id", schema=fields.SERIES_ID, description="Id of the series, as list_postseason_series gives it."
)
SEASON = Parameter(name="season", schema=_YEARS, description="Year of the season, 1871 to 2020.")
LEAGUE_FILTER = _optional(
    "league", fields.LEAGUE, "Only teams of this league: AL American, NL National, or one of the historical ones."
)
FROM_SEASON = _optional("from_season", _whole(1871, 2020, default=1871), "First season, a year.")
TO_SEASON = _optional("to_season", _whole(1871, 2020, default=2020), "Last season, a year, included.")
PAGING = (
    _optional("page", _whole(1, 100_000, default=1), "Number of the page, from 1."),
    _optional("page_size", _whole(1, 100, default=25), "How many items a page has at most."),
)
SLOT = Parameter(name="slot", schema=fields.SLOT, description="Place in the fantasy team that the player is to fill.")
OFFERED = Parameter(
    name="offered_player_id", schema=fields.PLAYER_ID, description="Id of the player who is given away."
)
WANTED = Parameter(name="wanted_player_id", schema=fields.PLAYER_ID, description="Id of the player who is wanted.")
CASH = _optional("cash_usd", {**fields.CASH, "default": 0}, "Money paid on top, in US dollars.")
CHANNEL = Parameter(name="channel", schema=fields.CHANNEL, description="How the interview is held.")
MINUTES = Parameter(name="minutes", schema=fields.MINUTES, description="Length of the interview in minutes.")
OCCASION = Parameter(name="occasion", schema=fields.OCCASION, description="What the greeting is for.")
PRIORITY = Parameter(
    name="priority", schema=fields.PRIORITY, description="How urgent the player is, 1 the most to 5 the least."
)
DATE = Parameter(name="date", schema=fields.DATE, description="Date of the visit, YYYY-MM-DD.")
PURPOSE = Parameter(name="purpose", schema=fields.PURPOSE, description="What the visit is for.")
CATEGORY = Parameter(name="category", schema=fields.CATEGORY, description="What the vote is for.")
ROLE = Parameter(name="role", schema=fields.ROLE, description="What the player was looked at as.")
GRADE = Parameter(
    name="grade", schema=fields.GRADE, description="Overall grade on the scouts' scale, from 20 to 80; 50 is average."
)
