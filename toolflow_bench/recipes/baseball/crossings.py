"""Recipes in which two branches meet, or a search stops early."""

from __future__ import annotations

from toolflow_bench.recipes.recipe import Case, Recipe

TEAM_MATES = Recipe(
    id="team_mates",
    services=("baseball",),
    split="long",
    type="list",
    program="""
import json

def seasons_of(name):
    player = next(p for p in search_players(query=name)["players"] if p["name"] == name)["player_id"]
    return [season["team_id"] for season in list_player_seasons(player_id=player)]

others = set(seasons_of($other))
team = next(team_id for team_id in seasons_of($one) if team_id in others)
manager = list_team_managers(team_id=team)[0]["player_id"]
park = list_team_parks(team_id=team)[0]["park_id"]
name = get_team(team_id=team)["name"]
print(json.dumps([name, get_player(player_id=manager)["name"], get_park(park_id=park)["name"]]))
""",
    query="""
WITH shared AS (SELECT t.team_id, t.name FROM baseball.batting b JOIN baseball.players p USING (player_id)
    JOIN baseball.teams t USING (team_id) WHERE p.name IN ($one, $other)
    GROUP BY t.team_id HAVING count(DISTINCT p.player_id) = 2 ORDER BY t.season LIMIT 1)
SELECT name FROM shared
UNION ALL SELECT p.name FROM shared JOIN baseball.managing m USING (team_id) JOIN baseball.players p USING (player_id)
    WHERE m.sequence = 1
UNION ALL SELECT * FROM (SELECT p.name FROM shared JOIN baseball.home_games h USING (team_id)
    JOIN baseball.parks p USING (park_id) ORDER BY h.games DESC LIMIT 1)
""",
    cases=(
        Case(
            "Wade Boggs and Roger Clemens were team mates. For the first season in which both played for the same "
            "club, tell me that club, its manager on opening day and its main ballpark, in this order.",
            one="Wade Boggs",
            other="Roger Clemens",
        ),
        Case(
            "When Hank Aaron and Eddie Mathews first shared a team, which team was it, who was its (first) manager "
            "that year, and at which park did it play most home games?",
            one="Hank Aaron",
            other="Eddie Mathews",
        ),
        Case(
            "I would like three facts about the earliest season that Gary Carter and Dwight Gooden spent on one "
            "roster: name of the team, name of the skipper it began with, name of its usual home park.",
            one="Gary Carter",
            other="Dwight Gooden",
        ),
    ),
)

BREAKTHROUGH = Recipe(
    id="breakthrough",
    services=("baseball",),
    split="long",
    type="list",
    program="""
import json
franchise = next(f for f in search_franchises(query=$franchise) if f["name"] == $franchise)["franchise_id"]
seasons = list_franchise_seasons(franchise_id=franchise, from_season=$first, page_size=100)["seasons"]
for season in seasons:
    team = get_team(team_id=season["team_id"])
    if team["wins"] >= $wins:
        break
manager = list_team_managers(team_id=team["team_id"])[0]["player_id"]
statistics = get_team_statistics(team_id=team["team_id"])
print(json.dumps([team["season"], get_player(player_id=manager)["name"], statistics["runs"]]))
""",
    query="""
WITH first AS (SELECT t.team_id, t.season, t.runs FROM baseball.teams t JOIN baseball.franchises f USING (franchise_id)
    WHERE f.name = $franchise AND t.season >= $first AND t.wins >= $wins ORDER BY t.season LIMIT 1)
SELECT season FROM first
UNION ALL SELECT p.name FROM first JOIN baseball.managing m USING (team_id) JOIN baseball.players p USING (player_id)
    WHERE m.sequence = 1
UNION ALL SELECT runs FROM first
""",
    cases=(
        Case(
            "From 1962 on, when did the New York Mets win 90 games or more for the first time, under which manager "
            "did that season start, and how many runs did they score in it?",
            franchise="New York Mets",
            first=1962,
            wins=90,
        ),
        Case(
            "Find the Toronto Blue Jays' first year with at least 95 wins since 1977. Answer with the year, the man "
            "who managed them first in it, and their runs scored.",
            franchise="Toronto Blue Jays",
            first=1977,
            wins=95,
        ),
        Case(
            "Starting in 1969, look for the earliest Kansas City Royals team to reach 92 victories: season, opening "
            "day manager and runs scored, please.",
            franchise="Kansas City Royals",
            first=1969,
            wins=92,
        ),
    ),
)

SERIES_MVPS = Recipe(
    id="series_mvps",
    services=("baseball",),
    split="long",
    type="list",
    program="""
import json
award = next(a for a in list_awards() if a["name"] == "World Series MVP")["award_id"]
heroes = []
for season in range($first, $last + 1):
    winner = list_award_winners(award_id=award, season=season)[0]["player_id"]
    final = next(s for s in list_postseason_series(season=season) if s["round"] == "WS")["series_id"]
    line = get_postseason_batting_line(series_id=final, player_id=winner)
    heroes.append([get_player(player_id=winner)["name"], line["hits"]])
print(json.dumps(heroes))
""",
    query="""
SELECT p.name, l.hits FROM baseball.awards a JOIN baseball.honours h USING (award_id)
JOIN baseball.players p USING (player_id) JOIN baseball.series s ON s.season = h.season AND s.round = 'WS'
JOIN baseball.series_batting l ON l.series_id = s.series_id AND l.player_id = h.player_id
WHERE a.name = 'World Series MVP' AND h.season BETWEEN $first AND $last ORDER BY h.season
""",
    cases=(
        Case(
            "Who received the World Series MVP award from 1970 to 1972, and how many hits had each in the World "
            "Series (WS) that he won it for? Name and hits, year by year.",
            first=1970,
            last=1972,
        ),
        Case(
            "Make me a list, in chronological order, of the World Series MVP winners of 2009 to 2012 with their "
            "number of base hits in the respective World Series (round WS).",
            first=2009,
            last=2012,
        ),
        Case(
            "For 1975, 1976 and 1977: pair each World Series MVP's name with the hits he made in that October's final"
            " round, the WS.",
            first=1975,
            last=1977,
        ),
    ),
)

ELECT_LAUREATE = Recipe(
    id="elect_laureate",
    services=("baseball",),
    split="long",
    type="list",
    program="""
import json
award = next(a for a in list_awards() if a["name"] == $award)["award_id"]
winners = {}
for season in range($first, $last + 1):
    for winner in list_award_winners(award_id=award, season=season):
        winners[winner["player_id"]] = None
best, most = None, -1
for winner in winners:
    for vote in list_hall_of_fame_votes(player_id=winner):
        if vote["votes"] is not None and vote["votes"] > most:
            best, most = winner, vote["votes"]
final = list_player_seasons(player_id=best)[-1]
print(json.dumps([get_player(player_id=best)["name"], get_team(team_id=final["team_id"])["name"]]))
""",
    query="""
WITH best AS (SELECT h.player_id FROM baseball.awards a JOIN baseball.honours h USING (award_id)
    JOIN baseball.ballots v USING (player_id) WHERE a.name = $award AND h.season BETWEEN $first AND $last
    ORDER BY v.votes DESC LIMIT 1)
SELECT p.name FROM best JOIN baseball.players p USING (player_id)
UNION ALL SELECT * FROM (SELECT t.name FROM best JOIN baseball.batting b USING (player_id)
    JOIN baseball.teams t USING (team_id) ORDER BY b.season DESC, b.stint DESC LIMIT 1)
""",
    cases=(
        Case(
            "Which Most Valuable Player of the years 1967 to 1970, either league, got the most votes in one Hall of "
            "Fame election, and what team did he play his last games for?",
            award="Most Valuable Player",
            first=1967,
            last=1970,
        ),
        Case(
            "Out of all Rookies of the Year (award name: Rookie of the Year) between 1976 and 1979, take the one with"
            " the highest vote count in any Hall of Fame ballot. I want his name and the club of his final season.",
            award="Rookie of the Year",
            first=1976,
            last=1979,
        ),
        Case(
            "The Cy Young Award went to several men in 1992-1995. Who among them drew more Hall of Fame votes in a "
            "single year than the rest did, and with whom did he finish his career? Player first, then team.",
            award="Cy Young Award",
            first=1992,
            last=1995,
        ),
    ),
)

RECIPES = (TEAM_MATES, BREAKTHROUGH, SERIES_MVPS, ELECT_LAUREATE)
