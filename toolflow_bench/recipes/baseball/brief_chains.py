"""Recipes of three to six calls."""

from __future__ import annotations

from toolflow_bench.recipes.recipe import Case, Recipe

CLOSING_MANAGER = Recipe(
    id="closing_manager",
    services=("baseball",),
    split="short",
    type="text",
    program="""
team = next(t for t in list_season_teams(season=$season) if t["name"] == $team)["team_id"]
manager = list_team_managers(team_id=team)[-1]["player_id"]
print(get_player(player_id=manager)["name"])
""",
    query="""
SELECT p.name FROM baseball.teams t JOIN baseball.managing m USING (team_id) JOIN baseball.players p USING (player_id)
WHERE t.season = $season AND t.name = $team ORDER BY m.sequence DESC LIMIT 1
""",
    cases=(
        Case("Who was managing the 1988 Baltimore Orioles at the season's end?", season=1988, team="Baltimore Orioles"),
        Case(
            "The Brooklyn Dodgers finished 1947 under which manager?",
            season=1947,
            team="Brooklyn Dodgers",
        ),
        Case(
            "Name the last manager that the Kansas City Athletics had in 1961.",
            season=1961,
            team="Kansas City Athletics",
        ),
        Case(
            "Which man closed the year 2010 as skipper of the Seattle Mariners?", season=2010, team="Seattle Mariners"
        ),
    ),
)

HOME_GROUND = Recipe(
    id="home_ground",
    services=("baseball",),
    split="short",
    type="text",
    program="""
team = next(t for t in list_season_teams(season=$season) if t["name"] == $team)["team_id"]
parks = list_team_parks(team_id=team)
print(get_park(park_id=parks[0]["park_id"])["name"])
""",
    query="""
SELECT p.name FROM baseball.teams t JOIN baseball.home_games h USING (team_id) JOIN baseball.parks p USING (park_id)
WHERE t.season = $season AND t.name = $team ORDER BY h.games DESC LIMIT 1
""",
    cases=(
        Case(
            "What was the ballpark called in which the Seattle Pilots played in 1969?",
            season=1969,
            team="Seattle Pilots",
        ),
        Case(
            "Where did the Brooklyn Dodgers of 1955 have most of their home games? The park's name, please.",
            season=1955,
            team="Brooklyn Dodgers",
        ),
        Case("Name the main home park of the St. Louis Browns in 1944.", season=1944, team="St. Louis Browns"),
        Case(
            "Tell me which stadium hosted the Montreal Expos for the larger part of their 1975 home schedule.",
            season=1975,
            team="Montreal Expos",
        ),
    ),
)

ONE_SEASONS_BAT = Recipe(
    id="one_seasons_bat",
    services=("baseball",),
    split="short",
    type="number",
    tolerance=0.0005,
    program="""
player = next(p for p in search_players(query=$player)["players"] if p["name"] == $player)["player_id"]
team = next(s for s in list_player_seasons(player_id=player) if s["season"] == $season)["team_id"]
line = get_batting_line(player_id=player, team_id=team)
print(round(line["hits"] / line["at_bats"], 3))
""",
    query="""
SELECT 1.0 * sum(b.hits) / sum(b.at_bats) FROM baseball.players p JOIN baseball.batting b USING (player_id)
WHERE p.name = $player AND b.season = $season
""",
    cases=(
        Case(
            "What was Ted Williams's batting average (hits by at bats, three decimals) in 1941?",
            player="Ted Williams",
            season=1941,
        ),
        Case(
            "Compute, to three decimal places, the average that Rod Carew hit for in the 1977 season.",
            player="Rod Carew",
            season=1977,
        ),
        Case(
            "George Brett came close to .400 in 1980. Divide his hits by his at bats and round to thousandths.",
            player="George Brett",
            season=1980,
        ),
        Case(
            "How well did Larry Walker bat in 1999? I mean the batting average with three digits after the point.",
            player="Larry Walker",
            season=1999,
        ),
    ),
)

STRIKEOUT_RACE = Recipe(
    id="strikeout_race",
    services=("baseball",),
    split="short",
    type="number",
    program="""
def strikeouts(name):
    player = next(p for p in search_players(query=name)["players"] if p["name"] == name)["player_id"]
    team = next(s for s in list_player_seasons(player_id=player) if s["season"] == $season)["team_id"]
    return get_pitching_line(player_id=player, team_id=team)["strikeouts"]

print(strikeouts($more) - strikeouts($less))
""",
    query="""
SELECT sum(iif(p.name = $more, l.strikeouts, -l.strikeouts)) FROM baseball.players p
JOIN baseball.pitching l USING (player_id) JOIN baseball.teams t USING (team_id)
WHERE p.name IN ($more, $less) AND t.season = $season
""",
    cases=(
        Case(
            "By how many strikeouts was Nolan Ryan ahead of Tom Seaver in 1973?",
            more="Nolan Ryan",
            less="Tom Seaver",
            season=1973,
        ),
        Case(
            "In 1997 Roger Clemens and Greg Maddux both pitched; what is the difference between their strikeout "
            "totals?",
            more="Roger Clemens",
            less="Greg Maddux",
            season=1997,
        ),
        Case(
            "Compare Justin Verlander with Clayton Kershaw for the 2009 season: how many more batters did the former "
            "strike out?",
            more="Justin Verlander",
            less="Clayton Kershaw",
            season=2009,
        ),
        Case(
            "Sandy Koufax fanned a lot more hitters than Don Drysdale during 1965. How many more exactly?",
            more="Sandy Koufax",
            less="Don Drysdale",
            season=1965,
        ),
    ),
)

SKIPPER_AND_REST = Recipe(
    id="skipper_and_rest",
    services=("baseball",),
    split="short",
    type="list",
    program="""
import json
team = next(t for t in list_season_teams(season=$season) if t["name"] == $team)["team_id"]
manager = list_team_managers(team_id=team)[0]["player_id"]
record = get_managing_record(player_id=manager, team_id=team)
rest = get_team(team_id=team)["wins"] - record["wins"]
print(json.dumps([get_player(player_id=manager)["name"], rest]))
""",
    query="""
WITH one AS (SELECT p.name, t.wins - sum(m.wins) AS rest FROM baseball.teams t
    JOIN baseball.managing m USING (team_id) JOIN baseball.players p USING (player_id)
    WHERE t.name = $team AND t.season = $season GROUP BY m.player_id ORDER BY min(m.sequence) LIMIT 1)
SELECT name FROM one UNION ALL SELECT rest FROM one
""",
    cases=(
        Case(
            "Who managed the New York Yankees first in 1978, and how many games did they win that year under others?",
            team="New York Yankees",
            season=1978,
        ),
        Case(
            "With which manager did the Florida Marlins start 2003, and how many of their victories came after him?",
            team="Florida Marlins",
            season=2003,
        ),
        Case(
            "I need two things on the Texas Rangers of 1977: the manager on opening day and the number of wins that "
            "the club had without him.",
            team="Texas Rangers",
            season=1977,
        ),
        Case(
            "The Philadelphia Phillies of 1983 changed skippers. State the earlier one, followed by what the team won"
            " in that season when he was not in charge.",
            team="Philadelphia Phillies",
            season=1983,
        ),
    ),
)

LAUREATES_CLUB = Recipe(
    id="laureates_club",
    services=("baseball",),
    split="short",
    type="text",
    program="""
award = next(a for a in list_awards() if a["name"] == $award)["award_id"]
winners = list_award_winners(award_id=award, season=$season)
winner = next(w for w in winners if w["league"] == $league)["player_id"]
team = next(s for s in list_player_seasons(player_id=winner) if s["season"] == $season)["team_id"]
franchise = get_team(team_id=team)["franchise_id"]
print(get_franchise(franchise_id=franchise)["name"])
""",
    query="""
SELECT DISTINCT f.name FROM baseball.awards a JOIN baseball.honours h USING (award_id)
JOIN baseball.batting b ON b.player_id = h.player_id AND b.season = h.season
JOIN baseball.teams t USING (team_id) JOIN baseball.franchises f USING (franchise_id)
WHERE a.name = $award AND h.season = $season AND h.league = $league
""",
    cases=(
        Case(
            "What is the present name of the franchise whose player was the National League's Rookie of the Year in "
            "1951?",
            award="Rookie of the Year",
            season=1951,
            league="NL",
        ),
        Case(
            "The American League's Most Valuable Player of 1952 played for a club that has since moved. How is that "
            "franchise called now?",
            award="Most Valuable Player",
            season=1952,
            league="AL",
        ),
        Case(
            "Which franchise, by its current name, employed the Cy Young Award winner of the National League in 1997?",
            award="Cy Young Award",
            season=1997,
            league="NL",
        ),
        Case(
            "For the American League in 1969: find the Rookie of the Year and tell me today's name of the "
            "organisation he was with.",
            award="Rookie of the Year",
            season=1969,
            league="AL",
        ),
    ),
)

RECIPES = (
    CLOSING_MANAGER,
    HOME_GROUND,
    ONE_SEASONS_BAT,
    STRIKEOUT_RACE,
    SKIPPER_AND_REST,
    LAUREATES_CLUB,
)
