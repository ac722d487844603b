"""Response schemas of the baseball service on players."""

from __future__ import annotations

from typing import Any

from toolflow_bench.services.baseball import common_fields as common
from toolflow_bench.services.baseball.fields import (
    BOOLEAN,
    DATE,
    INTEGER,
    STRING,
    closed,
    counted,
    field,
)

_hand = "L left, R right, {}; null where unknown."
_place_of_birth = "{} of birth; null where unknown."


def _born(part: str) -> dict[str, Any]:
    return field(STRING, _place_of_birth.format(part), nullable=True)


PEOPLE: dict[str, dict[str, Any]] = {
    "PlayerName": closed(
        "A player as a search finds him.",
        player_id=common.player,
        name=field(STRING, "First and last name as he was known."),
        birth_year=field(INTEGER, "Year of birth, which tells namesakes apart; null where unknown.", nullable=True),
    ),
    "Player": closed(
        "One player, manager or other person of the game.",
        player_id=common.player,
        name=field(STRING, "First and last name as he was known."),
        given_name=field(STRING, "Given names in full, without the last name; null where unknown.", nullable=True),
        birth_year=field(INTEGER, "Year of birth; null where unknown.", nullable=True),
        birth_month=field(INTEGER, "Month of birth, 1 to 12; null where unknown.", nullable=True),
        birth_day=field(INTEGER, "Day of the month of birth; null where unknown.", nullable=True),
        birth_city=_born("City"),
        birth_state=_born("State or province"),
        birth_country=_born("Country"),
        death_year=field(INTEGER, "Year of death; null where alive or unknown.", nullable=True),
        weight_lb=field(INTEGER, "Weight in pounds; null where unknown.", nullable=True),
        height_in=field(INTEGER, "Height in inches; null where unknown.", nullable=True),
        bats=field(STRING, "Batting hand: " + _hand.format("B both"), nullable=True),
        throws=field(STRING, "Throwing hand: " + _hand.format("S both"), nullable=True),
        debut=field(DATE, "Date of the first major-league game; null where he never played.", nullable=True),
        final_game=field(DATE, "Date of the last major-league game so far; null where he never played.", nullable=True),
    ),
    "PlayerSeason": closed(
        "A player's time with one team in one season.",
        season=common.season,
        team_id=common.team,
        games=field(INTEGER, "Games that he played for the team in the season."),
    ),
    "BattingLine": closed(
        "What a player batted for one team in one season, regular season only.",
        player_id=common.player,
        team_id=common.team,
        games=field(INTEGER, "Games played."),
        at_bats=field(INTEGER, "At bats."),
        runs=field(INTEGER, "Runs scored."),
        hits=field(INTEGER, "Hits."),
        doubles=field(INTEGER, "Doubles."),
        triples=field(INTEGER, "Triples."),
        home_runs=field(INTEGER, "Home runs."),
        runs_batted_in=counted("Runs batted in"),
        stolen_bases=counted("Stolen bases"),
        walks=field(INTEGER, "Walks."),
        strikeouts=counted("Strikeouts"),
    ),
    "PitchingLine": closed(
        "What a player pitched for one team in one season, regular season only.",
        player_id=common.player,
        team_id=common.team,
        wins=field(INTEGER, "Games won."),
        losses=field(INTEGER, "Games lost."),
        games=field(INTEGER, "Games pitched in."),
        games_started=field(INTEGER, "Games started."),
        complete_games=field(INTEGER, "Complete games."),
        shutouts=field(INTEGER, "Shutouts."),
        saves=field(INTEGER, "Saves."),
        outs=field(INTEGER, "Outs recorded; three make an inning."),
        hits=field(INTEGER, "Hits allowed."),
        earned_runs=field(INTEGER, "Earned runs allowed."),
        home_runs=field(INTEGER, "Home runs allowed."),
        walks=field(INTEGER, "Walks allowed."),
        strikeouts=field(INTEGER, "Batters struck out."),
    ),
    "ManagingRecord": closed(
        "What a manager achieved with one team in one season.",
        player_id=common.player,
        team_id=common.team,
        games=field(INTEGER, "Games managed."),
        wins=field(INTEGER, "Games won under him."),
        losses=field(INTEGER, "Games lost under him."),
    ),
    "PlayerAward": closed(
        "An award that a player won.", award_id=common.award, season=common.season, league=common.award_league
    ),
    "Salary": closed(
        "A player's salary of one season.",
        season=common.season,
        team_id=common.team,
        salary_usd=field(INTEGER, "Salary in US dollars of that year."),
    ),
    "HallOfFameVote": closed(
        "How one Hall of Fame vote on a candidate went.",
        year=field(INTEGER, "Year of the vote."),
        voted_by=field(STRING, "Who voted, such as 'BBWAA' (the writers) or 'Veterans' (the committee)."),
        ballots=field(INTEGER, "Ballots cast; null where not published.", nullable=True),
        needed=field(INTEGER, "Votes needed to be elected; null where not published.", nullable=True),
        votes=field(INTEGER, "Votes for the candidate; null where not published.", nullable=True),
        inducted=field(BOOLEAN, "Whether this vote elected the candidate."),
        category=field(STRING, "What he stood as: Player, Manager, Pioneer/Executive or Umpire."),
    ),
    "PlayerSchool": closed(
        "A year that a player spent at a school.", school_id=common.school, year=field(INTEGER, "Year at the school.")
    ),
}
"""Of players: what a person is, did and won."""
