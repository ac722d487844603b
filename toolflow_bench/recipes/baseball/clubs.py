"""Recipes about teams, their rosters and their managers."""

from __future__ import annotations

from toolflow_bench.recipes.recipe import Case, Recipe

BALLOT_FAVOURITE = Recipe(
    id="ballot_favourite",
    services=("baseball",),
    split="long",
    type="text",
    program="""
team = next(t for t in list_season_teams(season=$season) if t["name"] == $team)["team_id"]
roster = list_roster(team_id=team, page_size=100)["players"]
best, most = None, 0
for player in roster:
    if player["games"] < $games:
        continue
    for vote in list_hall_of_fame_votes(player_id=player["player_id"]):
        if vote["votes"] is not None and vote["votes"] > most:
            best, most = player["player_id"], vote["votes"]
print(get_player(player_id=best)["name"])
""",
    query="""
WITH regulars AS (SELECT b.player_id FROM baseball.batting b JOIN baseball.teams t USING (team_id)
    WHERE t.season = $season AND t.name = $team GROUP BY b.player_id HAVING sum(b.games) >= $games)
SELECT p.name FROM regulars JOIN baseball.ballots v USING (player_id) JOIN baseball.players p USING (player_id)
GROUP BY p.player_id ORDER BY max(v.votes) DESC LIMIT 1
""",
    cases=(
        Case(
            "Among the 1976 Cincinnati Reds who played at least 100 games that year, who collected the largest number"
            " of votes in any single Hall of Fame election?",
            season=1976,
            team="Cincinnati Reds",
            games=100,
        ),
        Case(
            "Think of the men with 90 or more appearances for the 1982 Milwaukee Brewers. Whose best Hall of Fame "
            "ballot, counted in votes, beats that of all his team mates?",
            season=1982,
            team="Milwaukee Brewers",
            games=90,
        ),
        Case(
            "Which regular (110 games or more) of the Los Angeles Dodgers of 1974 later had the highest vote count in"
            " one year's Hall of Fame voting?",
            season=1974,
            team="Los Angeles Dodgers",
            games=110,
        ),
    ),
)

REGULARS_PAY = Recipe(
    id="regulars_pay",
    services=("baseball",),
    split="long",
    type="number",
    program="""
franchise = next(f for f in search_franchises(query=$franchise) if f["name"] == $franchise)["franchise_id"]
season = list_franchise_seasons(franchise_id=franchise, from_season=$season, to_season=$season)["seasons"][0]
total = 0
for player in list_roster(team_id=season["team_id"], page_size=100)["players"]:
    if player["games"] < $games:
        continue
    for salary in list_player_salaries(player_id=player["player_id"]):
        if salary["team_id"] == season["team_id"]:
            total += salary["salary_usd"]
print(total)
""",
    query="""
WITH regulars AS (SELECT b.player_id, b.team_id FROM baseball.franchises f JOIN baseball.teams t USING (franchise_id)
    JOIN baseball.batting b USING (team_id) WHERE f.name = $franchise AND t.season = $season
    GROUP BY b.player_id, b.team_id HAVING sum(b.games) >= $games)
SELECT sum(s.salary_usd) FROM regulars JOIN baseball.salaries s USING (player_id, team_id)
""",
    cases=(
        Case(
            "What did the Seattle Mariners pay in 1995, in dollars all together, to those of their players who were "
            "in 100 games or more that season?",
            franchise="Seattle Mariners",
            season=1995,
            games=100,
        ),
        Case(
            "Add up the salaries that the Pittsburgh Pirates of 1990 gave everyone with at least 110 games for them "
            "in that year; the sum in US dollars is all I need.",
            franchise="Pittsburgh Pirates",
            season=1990,
            games=110,
        ),
        Case(
            "How expensive was the everyday lineup of the 2002 Oakland Athletics? Total the club's salaries, in "
            "dollars, for each man with 120+ games there.",
            franchise="Oakland Athletics",
            season=2002,
            games=120,
        ),
    ),
)

POWER_YEAR = Recipe(
    id="power_year",
    services=("baseball",),
    split="long",
    type="number",
    program="""
franchise = next(f for f in search_franchises(query=$franchise) if f["name"] == $franchise)["franchise_id"]
seasons = list_franchise_seasons(franchise_id=franchise, from_season=$first, to_season=$last)["seasons"]
teams = [get_team_statistics(team_id=one["team_id"]) for one in seasons]
best = max(teams, key=lambda team: team["home_runs"])
print(get_team(team_id=best["team_id"])["wins"])
""",
    query="""
SELECT t.wins FROM baseball.franchises f JOIN baseball.teams t USING (franchise_id)
WHERE f.name = $franchise AND t.season BETWEEN $first AND $last ORDER BY t.home_runs DESC LIMIT 1
""",
    cases=(
        Case(
            "In whichever season from 1990 to 1999 the Seattle Mariners hit their most home runs, how many games did "
            "they win?",
            franchise="Seattle Mariners",
            first=1990,
            last=1999,
        ),
        Case(
            "How many victories did the San Diego Padres get in the year with their highest home run total of the "
            "period 2001-2010?",
            franchise="San Diego Padres",
            first=2001,
            last=2010,
        ),
        Case(
            "Pick the most homer-happy Chicago White Sox team between 1971 and 1983 (both included). What was its "
            "number of wins?",
            franchise="Chicago White Sox",
            first=1971,
            last=1983,
        ),
    ),
)

WINNING_SKIPPER = Recipe(
    id="winning_skipper",
    services=("baseball",),
    split="long",
    type="list",
    program="""
import json
franchise = next(f for f in search_franchises(query=$franchise) if f["name"] == $franchise)["franchise_id"]
wins = {}
for season in list_franchise_seasons(franchise_id=franchise, from_season=$first, to_season=$last)["seasons"]:
    managers = {one["player_id"] for one in list_team_managers(team_id=season["team_id"])}
    for manager in sorted(managers):
        record = get_managing_record(player_id=manager, team_id=season["team_id"])
        wins[manager] = wins.get(manager, 0) + record["wins"]
best = max(wins, key=wins.get)
print(json.dumps([get_player(player_id=best)["birth_city"], wins[best]]))
""",
    query="""
WITH best AS (SELECT p.birth_city, sum(m.wins) AS wins FROM baseball.franchises f
    JOIN baseball.teams t USING (franchise_id) JOIN baseball.managing m USING (team_id)
    JOIN baseball.players p USING (player_id) WHERE f.name = $franchise AND t.season BETWEEN $first AND $last
    GROUP BY m.player_id ORDER BY sum(m.wins) DESC LIMIT 1)
SELECT birth_city FROM best UNION ALL SELECT wins FROM best
""",
    cases=(
        Case(
            "Which city was the manager born in who won the most games in all with the Baltimore Orioles between 1993"
            " and 2003, and how many games were that?",
            franchise="Baltimore Orioles",
            first=1993,
            last=2003,
        ),
        Case(
            "Compare all men who managed the Philadelphia Phillies in 1972 through 1982 by wins in those years. Where"
            " was the one with the largest sum born? The city and the sum are enough.",
            franchise="Philadelphia Phillies",
            first=1972,
            last=1982,
        ),
        Case(
            "I need a birthplace: the town where the St. Louis Cardinals' most successful skipper of 1978-1988, by "
            "the number of their games that he won in that time, came into the world. Add the number after it.",
            franchise="St. Louis Cardinals",
            first=1978,
            last=1988,
        ),
    ),
)

CELLAR_PARK = Recipe(
    id="cellar_park",
    services=("baseball",),
    split="long",
    type="text",
    program="""
teams = [get_team(team_id=one["team_id"]) for one in list_season_teams(season=$season, league=$league)]
worst = max(teams, key=lambda team: team["losses"])
parks = list_team_parks(team_id=worst["team_id"])
print(get_park(park_id=parks[0]["park_id"])["name"])
""",
    query="""
SELECT p.name FROM (SELECT team_id FROM baseball.teams WHERE season = $season AND league = $league
    ORDER BY losses DESC LIMIT 1) JOIN baseball.home_games h USING (team_id) JOIN baseball.parks p USING (park_id)
ORDER BY h.games DESC LIMIT 1
""",
    cases=(
        Case(
            "The National League club that lost the most games in 1962: what was the name of the ballpark where it "
            "played most of its home games?",
            season=1962,
            league="NL",
        ),
        Case(
            "In 2003 one American League team suffered more defeats than any other. Which stadium was its home?",
            season=2003,
            league="AL",
        ),
        Case(
            "Which park saw the bulk of the home schedule of the American League's worst team, by losses, in the "
            "summer of 1954?",
            season=1954,
            league="AL",
        ),
    ),
)

TROPHY_CABINET = Recipe(
    id="trophy_cabinet",
    services=("baseball",),
    split="long",
    type="number",
    program="""
franchise = next(f for f in search_franchises(query=$franchise) if f["name"] == $franchise)["franchise_id"]
season = list_franchise_seasons(franchise_id=franchise, from_season=$season, to_season=$season)["seasons"][0]
total = 0
for player in list_roster(team_id=season["team_id"], page_size=100)["players"]:
    if player["games"] >= $games:
        total += len(list_player_awards(player_id=player["player_id"]))
print(total)
""",
    query="""
WITH regulars AS (SELECT b.player_id FROM baseball.franchises f JOIN baseball.teams t USING (franchise_id)
    JOIN baseball.batting b USING (team_id) WHERE f.name = $franchise AND t.season = $season
    GROUP BY b.player_id HAVING sum(b.games) >= $games)
SELECT count(*) FROM regulars JOIN baseball.honours USING (player_id)
""",
    cases=(
        Case(
            "Count every award, of whatever kind and year, on record for the players who were in at least 120 games "
            "for the New York Yankees in 1998. What is the total?",
            franchise="New York Yankees",
            season=1998,
            games=120,
        ),
        Case(
            "How many awards altogether did the regulars of the 1979 Pittsburgh Pirates win in their lives? Regulars "
            "are those with 100 games or more that season; count each listed award once.",
            franchise="Pittsburgh Pirates",
            season=1979,
            games=100,
        ),
        Case(
            "If all men who appeared 110 times or more for the Toronto Blue Jays in 1992 put their career awards on "
            "one shelf, how many would stand there?",
            franchise="Toronto Blue Jays",
            season=1992,
            games=110,
        ),
    ),
)

RECIPES = (BALLOT_FAVOURITE, REGULARS_PAY, POWER_YEAR, WINNING_SKIPPER, CELLAR_PARK, TROPHY_CABINET)
