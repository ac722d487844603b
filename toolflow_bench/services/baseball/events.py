"""Operations of the baseball service on postseasons, awards and schools."""

from __future__ import annotations

from toolflow_bench.services.baseball import team_queries as queries
from toolflow_bench.services.baseball.links import FOUND_PLAYER_USES, PLAYER_USES, SCHOOL_USES, SERIES_USES, TEAM_USES
from toolflow_bench.services.baseball.parameters import AWARD, PAGING, PLAYER, QUERY, SCHOOL, SEASON, SERIES
from toolflow_bench.services.operation import Operation

_NO_SCHOOL = "There is no school of this id."

EVENT_OPERATIONS = (
    Operation(
        id="list_postseason_series",
        tag="postseason",
        path="/seasons/{season}/postseason",
        description=(
            "The postseason series of a season by id and round. Seasons without a postseason, such as 1994, give an "
            "empty list. Who played and won is in get_postseason_series."
        ),
        parameters=(SEASON,),
        returns="SeriesRounds",
        handler=queries.list_postseason_series,
        links=(("/series/0/series_id", SERIES_USES),),
    ),
    Operation(
        id="get_postseason_series",
        tag="postseason",
        path="/postseason/{series_id}",
        description="One postseason series: its round, the ids of the teams that won and lost it, and the games.",
        parameters=(SERIES,),
        returns="Series",
        handler=queries.get_postseason_series,
        missing="There is no series of this id.",
        links=(("/winner_team_id", TEAM_USES), ("/loser_team_id", TEAM_USES)),
    ),
    Operation(
        id="get_postseason_batting_line",
        tag="postseason",
        path="/postseason/{series_id}/batting/{player_id}",
        description=(
            "What one player batted in one postseason series. Who was on a team but not used in the series gets 404; "
            "pitchers who did not bat may have a line of zeros."
        ),
        parameters=(SERIES, PLAYER),
        returns="SeriesBattingLine",
        handler=queries.get_postseason_batting_line,
        missing="There is no series of this id, or no batting of this player in it.",
    ),
    Operation(
        id="list_awards",
        tag="awards",
        path="/awards",
        description="All awards for players and managers that winners are known of, by name.",
        returns="Awards",
        handler=queries.list_awards,
        links=(("/awards/0/award_id", (("list_award_winners", "award_id"),)),),
    ),
    Operation(
        id="list_award_winners",
        tag="awards",
        path="/awards/{award_id}/winners/{season}",
        description=(
            "Who won one award in one season, by league; ML stands for both major leagues together. Empty in seasons "
            "without a winner; known until 2017. Some awards have one winner for each position."
        ),
        parameters=(AWARD, SEASON),
        returns="AwardWinners",
        handler=queries.list_award_winners,
        missing="There is no award of this id.",
        links=(("/winners/0/player_id", FOUND_PLAYER_USES),),
    ),
    Operation(
        id="search_schools",
        tag="schools",
        path="/schools",
        description=(
            "Find colleges and universities by name, in the order of their names. Every word of the query must begin a "
            "word of the name."
        ),
        parameters=(QUERY,),
        returns="Schools",
        handler=queries.search_schools,
        links=(("/schools/0/school_id", SCHOOL_USES),),
    ),
    Operation(
        id="get_school",
        tag="schools",
        path="/schools/{school_id}",
        description="One college or university by id: its name, city, state and country.",
        parameters=(SCHOOL,),
        returns="School",
        handler=queries.get_school,
        missing=_NO_SCHOOL,
    ),
    Operation(
        id="list_school_players",
        tag="schools",
        path="/schools/{school_id}/players",
        description=(
            "The major-league players who went to a school, each once, in pages in the order of their ids. The years "
            "are in list_player_schools."
        ),
        parameters=(SCHOOL, *PAGING),
        returns="SchoolPage",
        handler=queries.list_school_players,
        missing=_NO_SCHOOL,
        links=(("/players/0/player_id", PLAYER_USES),),
    ),
)
