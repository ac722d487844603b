"""Recipes about the postseason."""

from __future__ import annotations

from toolflow_bench.recipes.recipe import Case, Recipe

OLDEST_CHAMPION = Recipe(
    id="oldest_champion",
    services=("baseball",),
    split="long",
    type="text",
    program="""
managers = {}
for season in range($first, $last + 1):
    final = next(s for s in list_postseason_series(season=season) if s["round"] == "WS")
    winner = get_postseason_series(series_id=final["series_id"])["winner_team_id"]
    for manager in list_team_managers(team_id=winner):
        managers[manager["player_id"]] = None
people = [get_player(player_id=manager) for manager in managers]
print(min(people, key=lambda person: person["birth_year"])["name"])
""",
    query="""
SELECT p.name FROM baseball.series s JOIN baseball.managing m ON m.team_id = s.winner_team_id
JOIN baseball.players p USING (player_id) WHERE s.round = 'WS' AND s.season BETWEEN $first AND $last
ORDER BY p.birth_year LIMIT 1
""",
    cases=(
        Case(
            "Of the managers whose teams won the World Series from 1979 to 1983, who was the oldest, going by year of"
            " birth?",
            first=1979,
            last=1983,
        ),
        Case(
            "Who has the earliest birth year among the men that managed the World Series champions of 1944 through "
            "1948?",
            first=1944,
            last=1948,
        ),
        Case(
            "Take the clubs that were world champions in the five years starting with 2001, include everybody who "
            "managed them in the title season, and tell me which of these managers was born first.",
            first=2001,
            last=2005,
        ),
    ),
)

BEATEN_FRANCHISES = Recipe(
    id="beaten_franchises",
    services=("baseball",),
    split="long",
    type="list",
    program="""
import json
beaten = []
for season in range($first, $last + 1):
    final = next(s for s in list_postseason_series(season=season) if s["round"] == $round)
    loser = get_postseason_series(series_id=final["series_id"])["loser_team_id"]
    team = get_team(team_id=loser)
    beaten.append([get_franchise(franchise_id=team["franchise_id"])["name"], team["wins"]])
print(json.dumps(beaten))
""",
    query="""
SELECT f.name, t.wins FROM baseball.series s JOIN baseball.teams t ON t.team_id = s.loser_team_id
JOIN baseball.franchises f USING (franchise_id)
WHERE s.round = $round AND s.season BETWEEN $first AND $last ORDER BY s.season
""",
    cases=(
        Case(
            "For each World Series (WS) from 1913 to 1917, in order, name the losing club's franchise as it is called"
            " nowadays together with the regular season wins of that losing team.",
            round="WS",
            first=1913,
            last=1917,
        ),
        Case(
            "Year by year from 1977 to 1980: which franchise, under its present name, lost the American League "
            "championship series (ALCS), and how many games had it won in the regular season? I want pairs of name "
            "and wins.",
            round="ALCS",
            first=1977,
            last=1980,
        ),
        Case(
            "Go through the National League championship series, NLCS for short, of 1984 to 1987 and write down who "
            "was defeated: the current franchise name and the team's wins in that regular season, earliest year "
            "first.",
            round="NLCS",
            first=1984,
            last=1987,
        ),
    ),
)

CLUTCH_SERIES = Recipe(
    id="clutch_series",
    services=("baseball",),
    split="long",
    type="list",
    program="""
import json
player = next(p for p in search_players(query=$player)["players"] if p["name"] == $player)["player_id"]
lines = [
    get_postseason_batting_line(series_id=one["series_id"], player_id=player)
    for one in list_player_series(player_id=player)
]
best = max(lines, key=lambda line: line["hits"])
series = get_postseason_series(series_id=best["series_id"])
rival = next(series[side] for side in ("winner_team_id", "loser_team_id") if series[side] != best["team_id"])
print(json.dumps([series["season"], get_team(team_id=rival)["name"]]))
""",
    query="""
WITH best AS (SELECT s.season, iif(l.team_id = s.winner_team_id, s.loser_team_id, s.winner_team_id) AS rival
    FROM baseball.players p JOIN baseball.series_batting l USING (player_id) JOIN baseball.series s USING (series_id)
    WHERE p.name = $player ORDER BY l.hits DESC LIMIT 1)
SELECT season FROM best UNION ALL SELECT t.name FROM best JOIN baseball.teams t ON t.team_id = rival
""",
    cases=(
        Case(
            "In what year, and against which team, did Yogi Berra play the postseason series in which he had the most"
            " hits?",
            player="Yogi Berra",
        ),
        Case(
            "Albert Pujols never hit more often in a playoff round than in one particular series. Tell me its year "
            "and the opponent.",
            player="Albert Pujols",
        ),
        Case(
            "Name season and opposing club of the October series that brought Steve Garvey his highest number of hits.",
            player="Steve Garvey",
        ),
    ),
)

RECIPES = (OLDEST_CHAMPION, BEATEN_FRANCHISES, CLUTCH_SERIES)
