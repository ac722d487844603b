"""Operations of the baseball service on teams, franchises and ballparks."""

from __future__ import annotations

from toolflow_bench.services.baseball import team_queries as queries
from toolflow_bench.services.baseball.links import FRANCHISE_USES, PARK_USES, ROSTER_USES, TEAM_USES
from toolflow_bench.services.baseball.parameters import (
    FRANCHISE,
    FROM_SEASON,
    LEAGUE_FILTER,
    PAGING,
    PARK,
    QUERY,
    SEASON,
    TEAM,
    TO_SEASON,
)
from toolflow_bench.services.operation import Operation

_NO_TEAM = "There is no team of this id."
_NO_FRANCHISE = "There is no franchise of this id."

TEAM_OPERATIONS = (
    Operation(
        id="list_season_teams",
        tag="teams",
        path="/seasons/{season}/teams",
        description=(
            "All teams of a season, or of one league in it, by name, with the name that they had then. A team has "
            "another id in each season. Leagues that did not play in the season give an empty list."
        ),
        parameters=(SEASON, LEAGUE_FILTER),
        returns="SeasonTeams",
        handler=queries.list_season_teams,
        links=(("/teams/0/team_id", TEAM_USES),),
    ),
    Operation(
        id="get_team",
        tag="teams",
        path="/teams/{team_id}",
        description=(
            "A team in one season: its name then, league and division, franchise, final place, games won and lost, "
            "titles and home attendance. What it batted and pitched is in get_team_statistics."
        ),
        parameters=(TEAM,),
        returns="Team",
        handler=queries.get_team,
        missing=_NO_TEAM,
        links=(("/franchise_id", FRANCHISE_USES),),
    ),
    Operation(
        id="get_team_statistics",
        tag="teams",
        path="/teams/{team_id}/statistics",
        description=(
            "A team's totals of one regular season: runs for and against, hits, home runs, walks, strikeouts, stolen "
            "bases, pitching and fielding. Counts that were not kept in early seasons are null."
        ),
        parameters=(TEAM,),
        returns="TeamStatistics",
        handler=queries.get_team_statistics,
        missing=_NO_TEAM,
    ),
    Operation(
        id="list_roster",
        tag="teams",
        path="/teams/{team_id}/roster",
        description=(
            "Everyone who played for a team in its season, by id and games played, in pages in the order of the ids. "
            "Pitchers are among them; what each did is in get_batting_line and get_pitching_line."
        ),
        parameters=(TEAM, *PAGING),
        returns="RosterPage",
        handler=queries.list_roster,
        missing=_NO_TEAM,
        links=(("/players/0/player_id", ROSTER_USES),),
    ),
    Operation(
        id="list_team_managers",
        tag="teams",
        path="/teams/{team_id}/managers",
        description=(
            "Who managed a team in its season, first to last, by id. A manager who came back stands there twice. "
            "get_managing_record has what he won."
        ),
        parameters=(TEAM,),
        returns="TeamManagers",
        handler=queries.list_team_managers,
        missing=_NO_TEAM,
        links=(("/managers/0/player_id", (("get_player", "player_id"), ("get_managing_record", "player_id"))),),
    ),
    Operation(
        id="list_team_parks",
        tag="teams",
        path="/teams/{team_id}/parks",
        description=(
            "The ballparks that a team played its home games of the season in, most games first, with dates and "
            "attendance. Games at neutral places, abroad for example, count where they were home games."
        ),
        parameters=(TEAM,),
        returns="HomeParks",
        handler=queries.list_team_parks,
        missing=_NO_TEAM,
        links=(("/parks/0/park_id", PARK_USES),),
    ),
)

FRANCHISE_OPERATIONS = (
    Operation(
        id="search_franchises",
        tag="franchises",
        path="/franchises",
        description=(
            "Find franchises by name. A franchise is a club through all its seasons, cities and names, and has the "
            "name of its latest team: the Brooklyn Dodgers are part of the Los Angeles Dodgers. Former names of teams "
            "are not searched; list_season_teams has the teams of a year."
        ),
        parameters=(QUERY,),
        returns="Franchises",
        handler=queries.search_franchises,
        links=(("/franchises/0/franchise_id", FRANCHISE_USES),),
    ),
    Operation(
        id="get_franchise",
        tag="franchises",
        path="/franchises/{franchise_id}",
        description="One franchise by id: its present or last name, and whether it still plays.",
        parameters=(FRANCHISE,),
        returns="Franchise",
        handler=queries.get_franchise,
        missing=_NO_FRANCHISE,
    ),
    Operation(
        id="list_franchise_seasons",
        tag="franchises",
        path="/franchises/{franchise_id}/seasons",
        description=(
            "The seasons of a franchise with the id of its team in each, earliest first, in pages. from_season and "
            "to_season, both included, narrow them."
        ),
        parameters=(FRANCHISE, FROM_SEASON, TO_SEASON, *PAGING),
        returns="FranchisePage",
        handler=queries.list_franchise_seasons,
        missing=_NO_FRANCHISE,
        links=(("/seasons/0/team_id", TEAM_USES),),
    ),
    Operation(
        id="get_park",
        tag="parks",
        path="/parks/{park_id}",
        description="One ballpark by id: its name, city, state and country. Which teams used it is in list_team_parks.",
        parameters=(PARK,),
        returns="Park",
        handler=queries.get_park,
        missing="There is no ballpark of this id.",
    ),
)
