"""Recipes that begin with a player or a school and follow careers."""

from __future__ import annotations

from toolflow_bench.recipes.recipe import Case, Recipe

SLUGGERS_PARK = Recipe(
    id="sluggers_park",
    services=("baseball",),
    split="long",
    type="text",
    program="""
player = next(p for p in search_players(query=$player)["players"] if p["name"] == $player)["player_id"]
best = None
for season in list_player_seasons(player_id=player):
    line = get_batting_line(player_id=player, team_id=season["team_id"])
    if best is None or line["home_runs"] > best[0]:
        best = (line["home_runs"], season["team_id"])
parks = list_team_parks(team_id=best[1])
park = max(parks, key=lambda p: p["games"])
print(get_park(park_id=park["park_id"])["name"])
""",
    query="""
WITH best AS (SELECT b.team_id FROM baseball.batting b JOIN baseball.players p USING (player_id)
    WHERE p.name = $player GROUP BY b.team_id ORDER BY sum(b.home_runs) DESC LIMIT 1)
SELECT p.name FROM best JOIN baseball.home_games h USING (team_id) JOIN baseball.parks p USING (park_id)
ORDER BY h.games DESC LIMIT 1
""",
    cases=(
        Case(
            "I am tracing Hank Aaron's power years. Take the season in which he hit the most home runs for a team: "
            "in which ballpark did that team play most of its home games that year?",
            player="Hank Aaron",
        ),
        Case(
            "Where was home for Jimmie Foxx when he had his best home run season? Name the stadium that hosted the "
            "bulk of his club's home schedule.",
            player="Jimmie Foxx",
        ),
        Case(
            "Find the year Mark McGwire went deep more often for one team than in any other of his career, and give "
            "me the name of the park that team used for its home games.",
            player="Mark McGwire",
        ),
    ),
)

ACES_MANAGER = Recipe(
    id="aces_manager",
    services=("baseball",),
    split="long",
    type="text",
    program="""
player = next(p for p in search_players(query=$player)["players"] if p["name"] == $player)["player_id"]
lines = [
    get_pitching_line(player_id=player, team_id=season["team_id"])
    for season in list_player_seasons(player_id=player)
]
best = max(lines, key=lambda line: line["strikeouts"])
manager = list_team_managers(team_id=best["team_id"])[0]["player_id"]
print(get_player(player_id=manager)["name"])
""",
    query="""
WITH best AS (SELECT l.team_id FROM baseball.pitching l JOIN baseball.players p USING (player_id)
    WHERE p.name = $player GROUP BY l.team_id ORDER BY sum(l.strikeouts) DESC LIMIT 1)
SELECT p.name FROM best JOIN baseball.managing m USING (team_id) JOIN baseball.players p USING (player_id)
ORDER BY m.sequence LIMIT 1
""",
    cases=(
        Case(
            "Nolan Ryan's biggest strikeout season for any one club: who was managing that club when the season began?",
            player="Nolan Ryan",
        ),
        Case(
            "For a piece on Sandy Koufax I need the skipper (the first of the year, if there were several) of the "
            "team with which he fanned more batters than in any other season.",
            player="Sandy Koufax",
        ),
        Case(
            "Which manager started the season in charge of Curt Schilling's team in the year Schilling struck out the"
            " most hitters for a single team?",
            player="Curt Schilling",
        ),
    ),
)

ALUMNI_PIONEER = Recipe(
    id="alumni_pioneer",
    services=("baseball",),
    split="long",
    type="text",
    program="""
school = next(s for s in search_schools(query=$school) if s["name"] == $school)["school_id"]
alumni = list_school_players(school_id=school, page_size=100)["players"]
people = [get_player(player_id=one["player_id"]) for one in alumni]
first = min(people, key=lambda person: person["debut"])
season = list_player_seasons(player_id=first["player_id"])[0]
print(get_team(team_id=season["team_id"])["name"])
""",
    query="""
WITH first AS (SELECT p.player_id FROM baseball.schools s JOIN baseball.attendances a USING (school_id)
    JOIN baseball.players p USING (player_id) WHERE s.name = $school ORDER BY p.debut LIMIT 1)
SELECT t.name FROM first JOIN baseball.batting b USING (player_id) JOIN baseball.teams t USING (team_id)
ORDER BY b.season, b.stint LIMIT 1
""",
    cases=(
        Case(
            "Of all big leaguers who studied at Harvard University, one made his debut before the others. With which "
            "team (by its name of that season) did he break in?",
            school="Harvard University",
        ),
        Case(
            "Temple University wants to honour the first of its students to reach the majors, by date of first game. "
            "What was the full name of the first club he appeared for?",
            school="Temple University",
        ),
        Case(
            "Look at everyone from Cornell University who got to the major leagues. The earliest debutant among them:"
            " which team gave him his first games?",
            school="Cornell University",
        ),
    ),
)

LAUREATES_COLLEGES = Recipe(
    id="laureates_colleges",
    services=("baseball",),
    split="long",
    type="set",
    program="""
import json
award = next(a for a in list_awards() if a["name"] == $award)["award_id"]
schools = {}
for season in range($first, $last + 1):
    for winner in list_award_winners(award_id=award, season=season):
        for stay in list_player_schools(player_id=winner["player_id"]):
            schools[stay["school_id"]] = None
print(json.dumps([get_school(school_id=school)["name"] for school in schools]))
""",
    query="""
SELECT DISTINCT s.name FROM baseball.awards a JOIN baseball.honours h USING (award_id)
    JOIN baseball.attendances USING (player_id) JOIN baseball.schools s USING (school_id)
WHERE a.name = $award AND h.season BETWEEN $first AND $last
""",
    cases=(
        Case(
            "List every college that the Rookie of the Year winners from 2007 through 2010, of both leagues, went to.",
            award="Rookie of the Year",
            first=2007,
            last=2010,
        ),
        Case(
            "Which schools had the Cy Young Award winners of 1985 to 1988 attended before turning pro, American and "
            "National League alike? Give me all their names.",
            award="Cy Young Award",
            first=1985,
            last=1988,
        ),
        Case(
            "I collect college yearbooks of famous players. Tell me the names of all institutions attended by the men"
            " voted Most Valuable Player of either league in the years 1990-1993.",
            award="Most Valuable Player",
            first=1990,
            last=1993,
        ),
    ),
)

RECIPES = (SLUGGERS_PARK, ACES_MANAGER, ALUMNI_PIONEER, LAUREATES_COLLEGES)
