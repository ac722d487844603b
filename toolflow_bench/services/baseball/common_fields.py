"""Fields that several responses of the baseball service have in common: ids of other records, seasons, places."""

from __future__ import annotations

from toolflow_bench.services.baseball.fields import (
    AWARD_ID,
    FRANCHISE_ID,
    INTEGER,
    LEAGUE,
    PARK_ID,
    PLAYER_ID,
    SCHOOL_ID,
    SERIES_ID,
    STRING,
    TEAM_ID,
    field,
)

player = field(PLAYER_ID, "Id of the player, as get_player takes it.")
team = field(TEAM_ID, "Id of the team in one season, as get_team takes it.")
franchise = field(FRANCHISE_ID, "Id of the franchise, as get_franchise takes it.")
park = field(PARK_ID, "Id of the ballpark, as get_park takes it.")
school = field(SCHOOL_ID, "Id of the school, as get_school takes it.")
award = field(AWARD_ID, "Id of the award; list_awards has their names.")
series = field(SERIES_ID, "Id of the series, as get_postseason_series takes it.")
season = field(INTEGER, "Year of the season.")
league = field(LEAGUE, "League: AL American, NL National, and the historical AA, FL, NA, PL and UA.")
award_league = field(
    {"type": "string", "enum": ["AL", "NL", "ML", "AA"]},
    "League that the award was given in; ML is both major leagues. Null where unknown.",
    nullable=True,
)
city = field(STRING, "City.")
state = field(STRING, "State or province, in the data's abbreviation; null where there is none.", nullable=True)
country = field(STRING, "Country.")
