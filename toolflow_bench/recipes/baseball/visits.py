"""Recipes that end in visits, votes and reports; what they leave is what they are graded by."""

from __future__ import annotations

from toolflow_bench.recipes.recipe import Case, Recipe

SHARED_PARKS = Recipe(
    id="shared_parks",
    services=("baseball",),
    split="long",
    type="state",
    program="""
def parks_of(name):
    franchise = next(f for f in search_franchises(query=name) if f["name"] == name)["franchise_id"]
    page = list_franchise_seasons(franchise_id=franchise, from_season=$first, to_season=$last)
    used = {}
    for season in page["seasons"]:
        for park in list_team_parks(team_id=season["team_id"]):
            used[park["park_id"]] = None
    return list(used)

for park in parks_of($one):
    schedule_visit(park_id=park, date=$date, purpose=$purpose)
booked = {visit["park_id"] for visit in list_visits()}
for park in parks_of($other):
    if park not in booked:
        schedule_visit(park_id=park, date=$date, purpose=$purpose)
print("done")
""",
    query="""
SELECT json_object('baseball', json_object('visits', json_group_array(json_object(
    'park_id', park_id, 'date', $date, 'purpose', $purpose))))
FROM (SELECT DISTINCT h.park_id FROM baseball.franchises f JOIN baseball.teams t USING (franchise_id)
    JOIN baseball.home_games h USING (team_id)
    WHERE f.name IN ($one, $other) AND t.season BETWEEN $first AND $last)
""",
    cases=(
        Case(
            "Schedule one visit for filming on 2021-05-03 to each ballpark in which the New York Yankees or the New "
            "York Mets played home games from 1973 to 1976.",
            one="New York Yankees",
            other="New York Mets",
            first=1973,
            last=1976,
            date="2021-05-03",
            purpose="filming",
        ),
        Case(
            "On 2022-04-18 there shall be a ceremony at every park that was home to the Philadelphia Phillies or to "
            "the Oakland Athletics franchise in the seasons 1937-1939. Book the visits, no park twice.",
            one="Philadelphia Phillies",
            other="Oakland Athletics",
            first=1937,
            last=1939,
            date="2022-04-18",
            purpose="ceremony",
        ),
        Case(
            "We hold a tryout wherever home games of the San Francisco Giants franchise or the New York Yankees took "
            "place between 1911 and 1913: enter a visit for 2021-09-14 for all of these grounds, a single one for "
            "each.",
            one="San Francisco Giants",
            other="New York Yankees",
            first=1911,
            last=1913,
            date="2021-09-14",
            purpose="tryout",
        ),
    ),
)

MANAGERS_POLL = Recipe(
    id="managers_poll",
    services=("baseball",),
    split="long",
    type="state",
    program="""
for season in range($first, $last + 1):
    final = next(s for s in list_postseason_series(season=season) if s["round"] == $round)
    team = get_postseason_series(series_id=final["series_id"])["winner_team_id"]
    for manager in list_team_managers(team_id=team):
        cast_vote(player_id=manager["player_id"], category=$category)
print("done")
""",
    query="""
SELECT json_object('baseball', json_object('votes', json_group_array(json_object(
    'player_id', m.player_id, 'category', $category))))
FROM baseball.series s JOIN baseball.managing m ON m.team_id = s.winner_team_id
WHERE s.round = $round AND s.season BETWEEN $first AND $last
""",
    cases=(
        Case(
            "In the readers' poll, vote for best manager for each man who managed a World Series (WS) winner in the "
            "seasons 2013, 2014, 2015 and 2016, once for every title.",
            round="WS",
            first=2013,
            last=2016,
            category="best_manager",
        ),
        Case(
            "Cast one vote a year, category best manager, for whoever managed the team that won the American League "
            "championship series (ALCS) from 1983 through 1986.",
            round="ALCS",
            first=1983,
            last=1986,
            category="best_manager",
        ),
        Case(
            "I think winning the National League pennant makes a season: for 1972 to 1974, give the managers of the "
            "teams that won the NLCS a vote for best season in the poll.",
            round="NLCS",
            first=1972,
            last=1974,
            category="best_season",
        ),
    ),
)

STAFF_REPORT = Recipe(
    id="staff_report",
    services=("baseball",),
    split="long",
    type="state",
    program="""
team = next(t for t in list_season_teams(season=$season) if t["name"] == $team)["team_id"]
best, most = None, -1
for player in list_roster(team_id=team, page_size=100)["players"]:
    try:
        line = get_pitching_line(player_id=player["player_id"], team_id=team)
    except ToolError:
        continue
    if line["strikeouts"] > most:
        best, most = player["player_id"], line["strikeouts"]
file_report(player_id=best, role="pitcher", grade=$grade)
print("done")
""",
    query="""
SELECT json_object('baseball', json_object('reports', json_array(json_object(
    'player_id', player_id, 'role', 'pitcher', 'grade', $grade))))
FROM (SELECT l.player_id FROM baseball.teams t JOIN baseball.pitching l USING (team_id)
    WHERE t.season = $season AND t.name = $team GROUP BY l.player_id ORDER BY sum(l.strikeouts) DESC LIMIT 1)
""",
    cases=(
        Case(
            "File a scouting report with grade 65, as pitcher, on the man who struck out the most batters for the "
            "1934 Detroit Tigers.",
            season=1934,
            team="Detroit Tigers",
            grade=65,
        ),
        Case(
            "Whoever led the pitchers of the 1957 Milwaukee Braves in strikeouts deserves a scouting report: put him "
            "down as a pitcher, overall 70.",
            season=1957,
            team="Milwaukee Braves",
            grade=70,
        ),
        Case(
            "Our archive lacks a report on the Chicago Cubs' strikeout leader of 1910. Submit one, in the role of "
            "pitcher and graded 55.",
            season=1910,
            team="Chicago Cubs",
            grade=55,
        ),
    ),
)

RECIPES = (
    SHARED_PARKS,
    MANAGERS_POLL,
    STAFF_REPORT,
)
