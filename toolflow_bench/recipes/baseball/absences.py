"""Recipes that ask for a date which may not exist; then the honest answer is none."""

from __future__ import annotations

from toolflow_bench.recipes.recipe import Case, Recipe

_SERIES_HERO = """
final = next(s for s in list_postseason_series(season=$season) if s["round"] == "WS")["series_id"]
winner = get_postseason_series(series_id=final)["winner_team_id"]
hero, most = None, -1
for player in list_roster(team_id=winner, page_size=100)["players"]:
    if player["games"] < $games:
        continue
    try:
        line = get_postseason_batting_line(series_id=final, player_id=player["player_id"])
    except ToolError:
        continue
    if line["hits"] > most:
        hero, most = player["player_id"], line["hits"]
died = get_player(player_id=hero)["death_year"]
print("none" if died is None else died)
"""
_SERIES_HERO_QUERY = """
WITH final AS (SELECT * FROM baseball.series WHERE season = $season AND round = 'WS'),
hero AS (SELECT l.player_id FROM final JOIN baseball.series_batting l USING (series_id)
    WHERE l.team_id = winner_team_id AND (SELECT sum(b.games) FROM baseball.batting b
        WHERE b.player_id = l.player_id AND b.team_id = winner_team_id) >= $games
    ORDER BY l.hits DESC LIMIT 1)
SELECT p.death_year FROM hero JOIN baseball.players p USING (player_id) WHERE p.death_year IS NOT NULL
"""
SERIES_HERO = Recipe(
    id="series_hero",
    services=("baseball",),
    split="long",
    type="number",
    program=_SERIES_HERO,
    query=_SERIES_HERO_QUERY,
    cases=(
        Case(
            "Look at the champions of 1931 and their World Series. Whichever of their regulars (at least 90 games in "
            "the regular season) had the most hits in it, in what year did he die? Say none if no death is recorded.",
            season=1931,
            games=90,
        ),
        Case(
            "In 1940 somebody with 100 or more regular season games for the World Series winners led those team mates"
            " in hits during the Series. I want the year of his death, or none where he is not known to have died.",
            season=1940,
            games=100,
        ),
    ),
)
SERIES_HERO_ALIVE = Recipe(
    id="series_hero_alive",
    services=("baseball",),
    split="long",
    type="none",
    program=_SERIES_HERO,
    query=_SERIES_HERO_QUERY,
    cases=(
        Case(
            "When did the top hitter of the 2008 World Series winners pass away? By top hitter I mean most hits in "
            "that Series among those with 100+ games for the club that year; answer none if there is no death on "
            "record.",
            season=2008,
            games=100,
        ),
        Case(
            "Year of death, please, of the man who had more World Series hits in 2013 than any other member of the "
            "winning team with at least 110 games in the season. If the records have him alive, just none.",
            season=2013,
            games=110,
        ),
    ),
)

_HOME_RUN_KING = """
team = next(t for t in list_season_teams(season=$season) if t["name"] == $team)["team_id"]
king, most = None, -1
for player in list_roster(team_id=team, page_size=100)["players"]:
    if player["games"] >= $games:
        line = get_batting_line(player_id=player["player_id"], team_id=team)
        if line["home_runs"] > most:
            king, most = player["player_id"], line["home_runs"]
died = get_player(player_id=king)["death_year"]
print("none" if died is None else died)
"""
_HOME_RUN_KING_QUERY = """
WITH king AS (SELECT b.player_id FROM baseball.batting b JOIN baseball.teams t USING (team_id)
    WHERE t.season = $season AND t.name = $team GROUP BY b.player_id HAVING sum(b.games) >= $games
    ORDER BY sum(b.home_runs) DESC LIMIT 1)
SELECT p.death_year FROM king JOIN baseball.players p USING (player_id) WHERE p.death_year IS NOT NULL
"""
HOME_RUN_KING = Recipe(
    id="home_run_king",
    services=("baseball",),
    split="long",
    type="number",
    program=_HOME_RUN_KING,
    query=_HOME_RUN_KING_QUERY,
    cases=(
        Case(
            "Who hit the most homers for the 1949 Boston Red Sox does not matter to me, but the year in which that "
            "man died does (consider players with 100 games or more; none if he has no date of death).",
            season=1949,
            team="Boston Red Sox",
            games=100,
        ),
        Case(
            "The Pittsburgh Pirates' home run leader of 1947, out of those who played 80 games or more for them: give"
            " the year he died, or none for a man still living.",
            season=1947,
            team="Pittsburgh Pirates",
            games=80,
        ),
    ),
)
HOME_RUN_KING_ALIVE = Recipe(
    id="home_run_king_alive",
    services=("baseball",),
    split="long",
    type="none",
    program=_HOME_RUN_KING,
    query=_HOME_RUN_KING_QUERY,
    cases=(
        Case(
            "What year did the leading home run hitter of the 1987 Oakland Athletics, among men with 100 games or "
            "more, die? Reply none should he have no recorded death.",
            season=1987,
            team="Oakland Athletics",
            games=100,
        ),
        Case(
            "Check the 1980 Philadelphia Phillies: take everybody with 90 games at least, find the one with the most "
            "round-trippers and tell me his death year. None is a fine answer if he lives.",
            season=1980,
            team="Philadelphia Phillies",
            games=90,
        ),
    ),
)

_SKIPPERS_DEBUT = """
franchise = next(f for f in search_franchises(query=$franchise) if f["name"] == $franchise)["franchise_id"]
page = list_franchise_seasons(franchise_id=franchise, from_season=$first, to_season=$last)
teams = [get_team(team_id=season["team_id"]) for season in page["seasons"]]
best = max(teams, key=lambda team: team["wins"])
manager = list_team_managers(team_id=best["team_id"])[0]["player_id"]
debut = get_player(player_id=manager)["debut"]
print("no debut" if debut is None else debut)
"""
_SKIPPERS_DEBUT_QUERY = """
WITH best AS (SELECT t.team_id FROM baseball.teams t JOIN baseball.franchises f USING (franchise_id)
    WHERE f.name = $franchise AND t.season BETWEEN $first AND $last ORDER BY t.wins DESC LIMIT 1)
SELECT p.debut FROM best JOIN baseball.managing m USING (team_id) JOIN baseball.players p USING (player_id)
WHERE m.sequence = 1 AND p.debut IS NOT NULL
"""
SKIPPERS_DEBUT = Recipe(
    id="skippers_debut",
    services=("baseball",),
    split="long",
    type="text",
    program=_SKIPPERS_DEBUT,
    query=_SKIPPERS_DEBUT_QUERY,
    cases=(
        Case(
            "The New York Mets won more games in one season of 1984-1990 than in the others. On what date "
            "(YYYY-MM-DD) had the manager who opened that season for them first played in the majors? None, if he "
            "never did.",
            franchise="New York Mets",
            first=1984,
            last=1990,
        ),
        Case(
            "Find the winningest Houston Astros season between 1994 and 2000, then its first manager, then the date "
            "of his own first big league game as a player, as YYYY-MM-DD; say none if he has not played there.",
            franchise="Houston Astros",
            first=1994,
            last=2000,
        ),
    ),
)
SKIPPERS_DEBUT_NEVER = Recipe(
    id="skippers_debut_never",
    services=("baseball",),
    split="long",
    type="none",
    program=_SKIPPERS_DEBUT,
    query=_SKIPPERS_DEBUT_QUERY,
    cases=(
        Case(
            "When did the man in charge of the Baltimore Orioles at the start of their best year, by wins, from 1969 "
            "through 1975 make his own debut as a major league player? Date, or none in case he never appeared.",
            franchise="Baltimore Orioles",
            first=1969,
            last=1975,
        ),
        Case(
            "For the Detroit Tigers of 2006 to 2012, choose the season with most victories and look up whoever "
            "managed it from opening day. His playing debut in the big leagues was on which day? Write none if there "
            "was no such day.",
            franchise="Detroit Tigers",
            first=2006,
            last=2012,
        ),
    ),
)

RECIPES = (
    SERIES_HERO,
    SERIES_HERO_ALIVE,
    HOME_RUN_KING,
    HOME_RUN_KING_ALIVE,
    SKIPPERS_DEBUT,
    SKIPPERS_DEBUT_NEVER,
)
