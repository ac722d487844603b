"""Response schemas of the baseball service: closed, every field described with its unit."""

from __future__ import annotations

from typing import Any

from protocols.jsontypes import JsonObject
from toolflow_bench.services.baseball import common_fields as common
from toolflow_bench.services.baseball.fields import (
    BOOLEAN,
    CASH,
    CATEGORY,
    CHANNEL,
    DATE,
    GRADE,
    INTEGER,
    MINUTES,
    OCCASION,
    PLAYER_ID,
    PRIORITY,
    PURPOSE,
    ROLE,
    SLOT,
    STRING,
    TEAM_ID,
    closed,
    counted,
    field,
    identifier,
    list_of,
    page_of,
)
from toolflow_bench.services.baseball.player_schemas import PEOPLE

_TEAMS: dict[str, dict[str, Any]] = {
    "SeasonTeam": closed(
        "A team of a season.", team_id=common.team, name=field(STRING, "Full name of the team in that season.")
    ),
    "Team": closed(
        "A team's season: where it stood and how it ended.",
        team_id=common.team,
        season=common.season,
        name=field(STRING, "Full name of the team in that season."),
        league=common.league,
        division=field(STRING, "Division: E East, C Central, W West; null before 1969.", nullable=True),
        franchise_id=common.franchise,
        rank=field(INTEGER, "Final place in the division, or in the league where it has none."),
        games=field(INTEGER, "Games played."),
        wins=field(INTEGER, "Games won."),
        losses=field(INTEGER, "Games lost."),
        league_champion=field(BOOLEAN, "Whether it won the league's pennant; null where unknown.", nullable=True),
        world_series_winner=field(
            BOOLEAN, "Whether it won the World Series; null in years without one.", nullable=True
        ),
        attendance=field(INTEGER, "Spectators of all home games together; null where unknown.", nullable=True),
    ),
    "TeamStatistics": closed(
        "What a team did in a season, batting, pitching and fielding, regular season only.",
        team_id=common.team,
        runs=field(INTEGER, "Runs scored."),
        at_bats=field(INTEGER, "At bats."),
        hits=field(INTEGER, "Hits by its batters."),
        doubles=field(INTEGER, "Doubles by its batters."),
        triples=field(INTEGER, "Triples by its batters."),
        home_runs=field(INTEGER, "Home runs by its batters."),
        walks=counted("Walks by its batters"),
        strikeouts=counted("Strikeouts of its batters"),
        stolen_bases=counted("Stolen bases"),
        runs_allowed=field(INTEGER, "Runs that its opponents scored."),
        earned_runs=field(INTEGER, "Earned runs allowed."),
        complete_games=field(INTEGER, "Complete games of its pitchers."),
        shutouts=field(INTEGER, "Shutouts of its pitchers."),
        saves=field(INTEGER, "Saves of its pitchers."),
        home_runs_allowed=field(INTEGER, "Home runs allowed."),
        errors=field(INTEGER, "Errors."),
        double_plays=field(INTEGER, "Double plays turned."),
    ),
    "RosterPlayer": closed(
        "A player of a roster.", player_id=common.player, games=field(INTEGER, "Games that he played for the team.")
    ),
    "TeamManager": closed(
        "A manager of a team in a season.",
        player_id=field(PLAYER_ID, "Id of the manager, as get_player and get_managing_record take it."),
        sequence=field(INTEGER, "Which of the season's managers of the team he was, from 1."),
    ),
    "HomePark": closed(
        "A ballpark that a team played home games in.",
        park_id=common.park,
        games=field(INTEGER, "Home games played there in the season."),
        first_date=field(DATE, "Date of the first of them."),
        last_date=field(DATE, "Date of the last of them."),
        attendance=field(INTEGER, "Spectators there together; 0 where unknown."),
    ),
    "FranchiseName": closed(
        "A franchise as a search finds it.",
        franchise_id=common.franchise,
        name=field(STRING, "Name of the franchise, usually that of its latest team."),
    ),
    "Franchise": closed(
        "A franchise: a club through all seasons, cities and names.",
        franchise_id=common.franchise,
        name=field(STRING, "Name of the franchise, usually that of its latest team."),
        active=field(BOOLEAN, "Whether it still plays."),
    ),
    "FranchiseSeason": closed("A season of a franchise.", season=common.season, team_id=common.team),
    "Park": closed(
        "One ballpark.",
        park_id=common.park,
        name=field(STRING, "Name of the ballpark."),
        city=common.city,
        state=common.state,
        country=common.country,
    ),
}
_EVENTS: dict[str, dict[str, Any]] = {
    "SeriesRound": closed(
        "A series of a postseason.",
        series_id=common.series,
        round=field(
            STRING,
            "Round: WS World Series, ALCS and NLCS championship series, ALDS1 to NLDS2 division series, "
            "ALWC and NLWC wild card games.",
        ),
    ),
    "Series": closed(
        "How a postseason series ended.",
        series_id=common.series,
        season=common.season,
        round=field(STRING, "Round, as list_postseason_series names it."),
        winner_team_id=field(TEAM_ID, "Id of the team that won the series."),
        loser_team_id=field(TEAM_ID, "Id of the team that lost it."),
        wins=field(INTEGER, "Games that the winner of the series won."),
        losses=field(INTEGER, "Games that the winner of the series lost."),
        ties=field(INTEGER, "Games that ended in a tie."),
    ),
    "PlayerSeries": closed(
        "A postseason series that a player took part in.",
        series_id=common.series,
        player_id=common.player,
        season=common.season,
    ),
    "SeriesBattingLine": closed(
        "What a player batted in one postseason series.",
        series_id=common.series,
        player_id=common.player,
        team_id=common.team,
        games=field(INTEGER, "Games played."),
        at_bats=field(INTEGER, "At bats."),
        runs=field(INTEGER, "Runs scored."),
        hits=field(INTEGER, "Hits."),
        home_runs=field(INTEGER, "Home runs."),
        runs_batted_in=field(INTEGER, "Runs batted in."),
        stolen_bases=field(INTEGER, "Stolen bases."),
        walks=field(INTEGER, "Walks."),
        strikeouts=field(INTEGER, "Strikeouts."),
    ),
    "Award": closed("An award.", award_id=common.award, name=field(STRING, "Name of the award.")),
    "AwardWinner": closed("A winner of an award in a season.", player_id=common.player, league=common.award_league),
    "SchoolName": closed(
        "A school as a search finds it.", school_id=common.school, name=field(STRING, "Name of the school.")
    ),
    "School": closed(
        "A college or university.",
        school_id=common.school,
        name=field(STRING, "Name of the school."),
        city=common.city,
        state=field(STRING, "State or province, in the data's abbreviation."),
        country=common.country,
    ),
    "SchoolPlayer": closed("A player who went to a school.", player_id=common.player),
    "Pick": closed(
        "A player drafted for the fantasy team.",
        pick_id=field(identifier("pi", "a pick id"), "Id of the pick."),
        player_id=common.player,
        slot=field(SLOT, "Place in the fantasy team that he fills."),
    ),
    "Trade": closed(
        "A trade that was proposed.",
        trade_id=field(identifier("td", "a trade id"), "Id of the proposal."),
        offered_player_id=field(PLAYER_ID, "Id of the player who is given away."),
        wanted_player_id=field(PLAYER_ID, "Id of the player who is wanted."),
        cash_usd=field(CASH, "Money that is paid on top, in US dollars."),
    ),
    "WatchEntry": closed(
        "A player on the watchlist.",
        entry_id=field(identifier("we", "an entry id"), "Id of the entry."),
        player_id=common.player,
        priority=field(PRIORITY, "How urgent he is, 1 the most to 5 the least."),
    ),
    "Interview": closed(
        "An interview that was booked.",
        interview_id=field(identifier("iv", "an interview id"), "Id of the interview."),
        player_id=common.player,
        channel=field(CHANNEL, "How it is held."),
        minutes=field(MINUTES, "Its length in minutes."),
    ),
    "Greeting": closed(
        "A greeting that was sent to a team.",
        greeting_id=field(identifier("gr", "a greeting id"), "Id of the greeting."),
        team_id=common.team,
        occasion=field(OCCASION, "What it was sent for."),
    ),
    "Visit": closed(
        "A visit to a ballpark.",
        visit_id=field(identifier("vi", "a visit id"), "Id of the visit."),
        park_id=common.park,
        date=field(DATE, "Date of the visit, YYYY-MM-DD."),
        purpose=field(PURPOSE, "What the visit is for."),
    ),
    "Vote": closed(
        "A vote in the readers' poll.",
        vote_id=field(identifier("vo", "a vote id"), "Id of the vote."),
        player_id=common.player,
        category=field(CATEGORY, "What the vote is for."),
    ),
    "Report": closed(
        "A scouting report that was filed.",
        report_id=field(identifier("rp", "a report id"), "Id of the report."),
        player_id=common.player,
        role=field(ROLE, "What he was looked at as."),
        grade=field(GRADE, "Overall grade on the scouts' scale, 20 to 80."),
    ),
}
_LISTS: dict[str, dict[str, Any]] = {
    "PlayerPage": page_of("players", "PlayerName", "Players by name, namesakes by year of birth."),
    "PlayerSeasons": list_of("seasons", "PlayerSeason", "Seasons, earliest first; two teams in one season are two."),
    "PlayerAwards": list_of("awards", "PlayerAward", "Awards won, earliest first."),
    "Salaries": list_of("salaries", "Salary", "Salaries, earliest season first."),
    "HallOfFameVotes": list_of("votes", "HallOfFameVote", "Votes, earliest first."),
    "PlayerSchools": list_of("schools", "PlayerSchool", "Years at schools, earliest first."),
    "SeasonTeams": list_of("teams", "SeasonTeam", "Teams of the season by name."),
    "RosterPage": page_of("players", "RosterPlayer", "Players who played for the team, in the order of their ids."),
    "TeamManagers": list_of("managers", "TeamManager", "Managers of the season, first to last."),
    "HomeParks": list_of("parks", "HomePark", "Ballparks, most home games first."),
    "Franchises": list_of("franchises", "FranchiseName", "Franchises by name."),
    "FranchisePage": page_of("seasons", "FranchiseSeason", "Seasons, earliest first."),
    "SeriesRounds": list_of("series", "SeriesRound", "Series of the postseason, in the order of their ids."),
    "PlayerSeriesList": list_of("series", "PlayerSeries", "Series that he batted in, earliest season first."),
    "Awards": list_of("awards", "Award", "Awards by name."),
    "AwardWinners": list_of("winners", "AwardWinner", "Winners, by league."),
    "Schools": list_of("schools", "SchoolName", "Schools by name."),
    "SchoolPage": page_of("players", "SchoolPlayer", "Players who went there, in the order of their ids."),
    "Watchlist": list_of("entries", "WatchEntry", "The watchlist, oldest entry first."),
    "Visits": list_of("visits", "Visit", "Visits, the one scheduled first first."),
}
SCHEMAS: dict[str, JsonObject] = {
    name: {"title": name, **schema} for name, schema in {**PEOPLE, **_TEAMS, **_EVENTS, **_LISTS}.items()
}
"""By component name, which is their title too."""
