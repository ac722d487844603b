"""Recipes that end in fantasy picks, trades and watchlists; what they leave is what they are graded by."""

from __future__ import annotations

from toolflow_bench.recipes.recipe import Case, Recipe

DRAFT_LAUREATES = Recipe(
    id="draft_laureates",
    services=("baseball",),
    split="long",
    type="state",
    program="""
award = next(a for a in list_awards() if a["name"] == $award)["award_id"]
for season in range($first, $last + 1):
    for winner in list_award_winners(award_id=award, season=season):
        player = get_player(player_id=winner["player_id"])
        slot = $tall if player["height_in"] >= $height else $small
        draft_player(player_id=player["player_id"], slot=slot)
print("done")
""",
    query="""
SELECT json_object('baseball', json_object('picks', json_group_array(json_object(
    'player_id', player_id, 'slot', slot))))
FROM (SELECT p.player_id, iif(p.height_in >= $height, $tall, $small) AS slot
    FROM baseball.awards a JOIN baseball.honours h USING (award_id) JOIN baseball.players p USING (player_id)
    WHERE a.name = $award AND h.season BETWEEN $first AND $last)
""",
    cases=(
        Case(
            "Build my fantasy team from the Most Valuable Players of both leagues from 1977 to 1979: draft each of "
            "them, as DH if he is 74 inches or taller, otherwise as OF.",
            award="Most Valuable Player",
            first=1977,
            last=1979,
            height=74,
            tall="DH",
            small="OF",
        ),
        Case(
            "Please pick every Rookie of the Year of 1996, 1997 and 1998 for the fantasy roster. Men of 75 inches or "
            "more go to first base (1B), the shorter ones to shortstop (SS).",
            award="Rookie of the Year",
            first=1996,
            last=1998,
            height=75,
            tall="1B",
            small="SS",
        ),
        Case(
            "My fantasy pitching staff shall consist of the Cy Young Award winners of the years 2003 through 2005. "
            "Those who measure at least 75 inches become starters (SP) and the rest relievers (RP).",
            award="Cy Young Award",
            first=2003,
            last=2005,
            height=75,
            tall="SP",
            small="RP",
        ),
    ),
)

SWAP_SLUGGERS = Recipe(
    id="swap_sluggers",
    services=("baseball",),
    split="long",
    type="state",
    program="""
teams = {team["name"]: team["team_id"] for team in list_season_teams(season=$season)}

def slugger(team):
    best, most = None, -1
    for player in list_roster(team_id=team, page_size=100)["players"]:
        if player["games"] >= $games:
            line = get_batting_line(player_id=player["player_id"], team_id=team)
            if line["home_runs"] > most:
                best, most = player["player_id"], line["home_runs"]
    return best

propose_trade(
    offered_player_id=slugger(teams[$mine]), wanted_player_id=slugger(teams[$theirs]), cash_usd=$cash
)
print("done")
""",
    query="""
WITH lines AS (SELECT t.name, b.player_id, sum(b.games) AS games, sum(b.home_runs) AS home_runs
    FROM baseball.teams t JOIN baseball.batting b USING (team_id)
    WHERE t.season = $season AND t.name IN ($mine, $theirs) GROUP BY t.team_id, b.player_id)
SELECT json_object('baseball', json_object('trades', json_array(json_object(
    'offered_player_id', (SELECT player_id FROM lines WHERE name = $mine AND games >= $games
        ORDER BY home_runs DESC LIMIT 1),
    'wanted_player_id', (SELECT player_id FROM lines WHERE name = $theirs AND games >= $games
        ORDER BY home_runs DESC LIMIT 1),
    'cash_usd', $cash))))
""",
    cases=(
        Case(
            "Propose a what-if trade for 1985: the Atlanta Braves offer their top home run hitter for the Detroit "
            "Tigers' top home run hitter and pay 250,000 dollars on top. Count only players with 120 games or more "
            "for the team.",
            season=1985,
            mine="Atlanta Braves",
            theirs="Detroit Tigers",
            games=120,
            cash=250000,
        ),
        Case(
            "I run the 1967 Minnesota Twins and would like to give our leader in homers away for the one of the San "
            "Francisco Giants, adding $40,000. Send that proposal; men below 100 games that season are not "
            "considered.",
            season=1967,
            mine="Minnesota Twins",
            theirs="San Francisco Giants",
            games=100,
            cash=40000,
        ),
        Case(
            "Put a trade on the table in which the New York Mets of 2006 hand over the man with their most home runs,"
            " plus 3,000,000 US dollars, and want his counterpart of the Chicago White Sox (both chosen among those "
            "who played 130 games at least).",
            season=2006,
            mine="New York Mets",
            theirs="Chicago White Sox",
            games=130,
            cash=3000000,
        ),
    ),
)

DOUBLE_WINNERS = Recipe(
    id="double_winners",
    services=("baseball",),
    split="long",
    type="state",
    program="""
awards = {award["name"]: award["award_id"] for award in list_awards()}
seasons = range($first, $last + 1)
for season in seasons:
    for winner in list_award_winners(award_id=awards[$main], season=season):
        watch_player(player_id=winner["player_id"], priority=$high)
watched = {entry["player_id"] for entry in list_watchlist()}
for season in seasons:
    for winner in list_award_winners(award_id=awards[$other], season=season):
        if winner["player_id"] not in watched:
            watch_player(player_id=winner["player_id"], priority=$low)
print("done")
""",
    query="""
WITH won AS (SELECT h.player_id, min(iif(a.name = $main, 1, 2)) AS kind
    FROM baseball.awards a JOIN baseball.honours h USING (award_id)
    WHERE a.name IN ($main, $other) AND h.season BETWEEN $first AND $last GROUP BY h.player_id)
SELECT json_object('baseball', json_object('watchlist', json_group_array(json_object(
    'player_id', player_id, 'priority', iif(kind = 1, $high, $low))))) FROM won
""",
    cases=(
        Case(
            "Put all winners of the Cy Young Award from 1984 to 1986 on my watchlist with priority 1. Then add the "
            "Most Valuable Player winners of those years with priority 3, but leave everybody who is listed already "
            "as he is.",
            main="Cy Young Award",
            other="Most Valuable Player",
            first=1984,
            last=1986,
            high=1,
            low=3,
        ),
        Case(
            "Watch the Most Valuable Players of 2011 through 2014 (priority 2); afterwards watch that period's Hank "
            "Aaron Award winners at priority 4, except for men who are on the list by then.",
            main="Most Valuable Player",
            other="Hank Aaron Award",
            first=2011,
            last=2014,
            high=2,
            low=4,
        ),
        Case(
            "For 1990, 1991 and 1992 I want two groups followed: first the Rolaids Relief Man Award winners, priority"
            " 5, and next, unless already there, the pitchers with a Cy Young Award in these seasons, priority 2.",
            main="Rolaids Relief Man Award",
            other="Cy Young Award",
            first=1990,
            last=1992,
            high=5,
            low=2,
        ),
    ),
)

RECIPES = (
    DRAFT_LAUREATES,
    SWAP_SLUGGERS,
    DOUBLE_WINNERS,
)
