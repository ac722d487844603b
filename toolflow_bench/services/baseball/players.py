"""Operations of the baseball service on players."""

from __future__ import annotations

from toolflow_bench.services.baseball import player_queries as queries
from toolflow_bench.services.baseball.links import FOUND_PLAYER_USES, PLAYED_USES, SCHOOL_USES, SERIES_USES
from toolflow_bench.services.baseball.parameters import PAGING, PLAYER, QUERY, TEAM
from toolflow_bench.services.operation import Operation

_NO_PLAYER = "There is no player of this id."

PLAYER_OPERATIONS = (
    Operation(
        id="search_players",
        tag="players",
        path="/players",
        description=(
            "Find players, managers and other people of the game by name, in pages by name. Every word of the query "
            "must begin a word of the first or last name; given names and nicknames in brackets are not searched. "
            "Namesakes are told apart by their year of birth."
        ),
        parameters=(QUERY, *PAGING),
        returns="PlayerPage",
        handler=queries.search_players,
        links=(("/players/0/player_id", FOUND_PLAYER_USES),),
    ),
    Operation(
        id="get_player",
        tag="players",
        path="/players/{player_id}",
        description=(
            "One person: name, birth, size in pounds and inches, hands, and the dates of the first and the last game. "
            "People who never played, such as executives, have no dates."
        ),
        parameters=(PLAYER,),
        returns="Player",
        handler=queries.get_player,
        missing=_NO_PLAYER,
    ),
    Operation(
        id="list_player_seasons",
        tag="players",
        path="/players/{player_id}/seasons",
        description=(
            "The teams that one player played for, season by season, earliest first. A player traded within a season "
            "has an item for each team, in the order in which he played there. Seasons as manager are not among them."
        ),
        parameters=(PLAYER,),
        returns="PlayerSeasons",
        handler=queries.list_player_seasons,
        missing=_NO_PLAYER,
        links=(("/seasons/0/team_id", PLAYED_USES),),
    ),
    Operation(
        id="get_batting_line",
        tag="players",
        path="/players/{player_id}/batting/{team_id}",
        description=(
            "What one player batted for one team in its season: games, at bats, hits, home runs and so on. The regular "
            "season only; get_postseason_batting_line has the rest. Averages are left to the caller."
        ),
        parameters=(PLAYER, TEAM),
        returns="BattingLine",
        handler=queries.get_batting_line,
        missing="There is no such player or team, or he did not play for it.",
    ),
    Operation(
        id="get_pitching_line",
        tag="players",
        path="/players/{player_id}/pitching/{team_id}",
        description=(
            "What one player pitched for one team in its season, regular season only: wins, saves, outs, runs, "
            "strikeouts. Innings are given as outs, three an inning. Who never pitched for the team gets 404."
        ),
        parameters=(PLAYER, TEAM),
        returns="PitchingLine",
        handler=queries.get_pitching_line,
        missing="There is no such player or team, or he did not pitch for it.",
    ),
    Operation(
        id="get_managing_record",
        tag="players",
        path="/players/{player_id}/managing/{team_id}",
        description=(
            "The games that one manager managed, won and lost with one team in its season. Several spells with the "
            "team in the season count together; ties are neither wins nor losses."
        ),
        parameters=(PLAYER, TEAM),
        returns="ManagingRecord",
        handler=queries.get_managing_record,
        missing="There is no such person or team, or he did not manage it.",
    ),
    Operation(
        id="list_player_series",
        tag="players",
        path="/players/{player_id}/series",
        description=(
            "The postseason series that one player has a batting line in, by id and season, earliest season first; "
            "within a season the order says nothing. The rounds are in get_postseason_series."
        ),
        parameters=(PLAYER,),
        returns="PlayerSeriesList",
        handler=queries.list_player_series,
        missing=_NO_PLAYER,
        links=(("/series/0/series_id", SERIES_USES),),
    ),
    Operation(
        id="list_player_awards",
        tag="players",
        path="/players/{player_id}/awards",
        description=(
            "The awards that one person won as player or manager, earliest first, by award id; list_awards has their "
            "names. Until 2017; places other than the first are not among them."
        ),
        parameters=(PLAYER,),
        returns="PlayerAwards",
        handler=queries.list_player_awards,
        missing=_NO_PLAYER,
        links=(("/awards/0/award_id", (("list_award_winners", "award_id"),)),),
    ),
    Operation(
        id="list_player_salaries",
        tag="players",
        path="/players/{player_id}/salaries",
        description=(
            "What one player earned by season and team, in US dollars of the year, earliest first. From 1985 to 2016; "
            "some seasons are missing, bonuses are left out."
        ),
        parameters=(PLAYER,),
        returns="Salaries",
        handler=queries.list_player_salaries,
        missing=_NO_PLAYER,
        links=(("/salaries/0/team_id", PLAYED_USES),),
    ),
    Operation(
        id="list_hall_of_fame_votes",
        tag="players",
        path="/players/{player_id}/hall_of_fame_votes",
        description=(
            "All votes on one person's election to the Hall of Fame until 2018, earliest first, with ballots cast, "
            "votes needed and votes won. Empty where he never stood for election."
        ),
        parameters=(PLAYER,),
        returns="HallOfFameVotes",
        handler=queries.list_hall_of_fame_votes,
        missing=_NO_PLAYER,
    ),
    Operation(
        id="list_player_schools",
        tag="players",
        path="/players/{player_id}/schools",
        description=(
            "The colleges that one player went to, an item a year, earliest first. Empty where he went to none or "
            "nothing is known."
        ),
        parameters=(PLAYER,),
        returns="PlayerSchools",
        handler=queries.list_player_schools,
        missing=_NO_PLAYER,
        links=(("/schools/0/school_id", SCHOOL_USES),),
    ),
)
