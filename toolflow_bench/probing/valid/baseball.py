"""Valid arguments of the baseball service."""

from __future__ import annotations

from toolflow_bench.probing.valid.draw import Kept, Valid

_WATCHED = Kept(collection="watchlist", fields={"player_id": "player_id"})

VALID = Valid(
    anywhere={
        "player_id": "SELECT player_id FROM players",
        "offered_player_id": "SELECT player_id FROM players",
        "wanted_player_id": "SELECT player_id FROM players",
        "team_id": "SELECT team_id FROM teams",
        "franchise_id": "SELECT franchise_id FROM franchises",
        "park_id": "SELECT park_id FROM parks",
        "series_id": "SELECT series_id FROM series",
        "award_id": "SELECT award_id FROM awards",
        "school_id": "SELECT school_id FROM schools",
        "season": "SELECT DISTINCT season FROM teams",
        "from_season": (1871, 1900, 1950, 1980),
        "to_season": (1960, 1990, 2020),
        "cash_usd": (0, 50_000, 1_000_000),
    },
    of_tool={
        "search_players": (
            "SELECT name AS query FROM players",
            "SELECT substr(name, instr(name, ' ') + 1) AS query FROM players",
        ),
        "search_franchises": ("SELECT name AS query FROM franchises",),
        "search_schools": ("SELECT name AS query FROM schools", "SELECT city AS query FROM schools WHERE city <> ''"),
        "get_batting_line": ("SELECT player_id, team_id FROM batting",),
        "get_pitching_line": ("SELECT player_id, team_id FROM pitching",),
        "get_managing_record": ("SELECT player_id, team_id FROM managing",),
        "list_player_series": ("SELECT player_id FROM series_batting", "SELECT player_id FROM players"),
        "list_player_awards": ("SELECT player_id FROM honours", "SELECT player_id FROM players"),
        "list_player_salaries": ("SELECT player_id FROM salaries", "SELECT player_id FROM players"),
        "list_hall_of_fame_votes": ("SELECT player_id FROM ballots", "SELECT player_id FROM players"),
        "list_player_schools": ("SELECT player_id FROM attendances", "SELECT player_id FROM players"),
        "list_postseason_series": ("SELECT season FROM series",),
        "get_postseason_batting_line": ("SELECT series_id, player_id FROM series_batting",),
        "list_award_winners": ("SELECT award_id, season FROM honours",),
        "list_school_players": ("SELECT school_id FROM attendances",),
        "unwatch_player": (_WATCHED,),
    },
)
