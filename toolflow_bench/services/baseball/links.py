"""Where the baseball service's ids may be carried to, for the links of its OpenAPI document."""

from __future__ import annotations

from toolflow_bench.services.operation import Uses

# The usual next steps, not all there are: every use of an id at every source would drown a reader.
PLAYER_USES: Uses = (
    ("get_player", "player_id"),
    ("list_player_seasons", "player_id"),
    ("list_player_awards", "player_id"),
    ("list_player_series", "player_id"),
    ("list_player_salaries", "player_id"),
    ("list_player_schools", "player_id"),
    ("list_hall_of_fame_votes", "player_id"),
)
FOUND_PLAYER_USES: Uses = (
    *PLAYER_USES,
    ("draft_player", "player_id"),
    ("propose_trade", "offered_player_id"),
    ("propose_trade", "wanted_player_id"),
    ("watch_player", "player_id"),
    ("cast_vote", "player_id"),
    ("book_interview", "player_id"),
    ("file_report", "player_id"),
)
ROSTER_USES: Uses = (
    ("get_player", "player_id"),
    ("get_batting_line", "player_id"),
    ("get_pitching_line", "player_id"),
    ("get_postseason_batting_line", "player_id"),
)
TEAM_USES: Uses = (
    ("get_team", "team_id"),
    ("get_team_statistics", "team_id"),
    ("list_roster", "team_id"),
    ("list_team_managers", "team_id"),
    ("list_team_parks", "team_id"),
    ("get_managing_record", "team_id"),
    ("send_greeting", "team_id"),
)
PLAYED_USES: Uses = (("get_team", "team_id"), ("get_batting_line", "team_id"), ("get_pitching_line", "team_id"))
FRANCHISE_USES: Uses = (("get_franchise", "franchise_id"), ("list_franchise_seasons", "franchise_id"))
PARK_USES: Uses = (("get_park", "park_id"), ("schedule_visit", "park_id"))
SCHOOL_USES: Uses = (("get_school", "school_id"), ("list_school_players", "school_id"))
SERIES_USES: Uses = (("get_postseason_series", "series_id"), ("get_postseason_batting_line", "series_id"))
