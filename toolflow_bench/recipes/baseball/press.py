"""Recipes that end in interviews, greetings and shortened watchlists; what they leave is what they are graded by."""

from __future__ import annotations

from toolflow_bench.recipes.recipe import Case, Recipe

YOUNG_SKIPPERS = Recipe(
    id="young_skippers",
    services=("baseball",),
    split="long",
    type="state",
    program="""
franchise = next(f for f in search_franchises(query=$franchise) if f["name"] == $franchise)["franchise_id"]
managers = {}
for season in list_franchise_seasons(franchise_id=franchise, from_season=$first, to_season=$last)["seasons"]:
    for manager in list_team_managers(team_id=season["team_id"]):
        managers[manager["player_id"]] = None
for manager in managers:
    if get_player(player_id=manager)["birth_year"] >= $born:
        book_interview(player_id=manager, channel=$channel, minutes=$minutes)
print("done")
""",
    query="""
SELECT json_object('baseball', json_object('interviews', json_group_array(json_object(
    'player_id', player_id, 'channel', $channel, 'minutes', $minutes))))
FROM (SELECT DISTINCT p.player_id FROM baseball.franchises f JOIN baseball.teams t USING (franchise_id)
    JOIN baseball.managing m USING (team_id) JOIN baseball.players p USING (player_id)
    WHERE f.name = $franchise AND t.season BETWEEN $first AND $last AND p.birth_year >= $born)
""",
    cases=(
        Case(
            "Book a video interview of 20 minutes with every man who managed the Seattle Mariners at any time from "
            "2005 to 2011 and was born in 1955 or later.",
            franchise="Seattle Mariners",
            first=2005,
            last=2011,
            born=1955,
            channel="video",
            minutes=20,
        ),
        Case(
            "Our radio show calls former San Diego Padres skippers: arrange phone interviews, 15 minutes each, with "
            "those in charge in the seasons 1985 through 1992 whose birth year is 1938 or after.",
            franchise="San Diego Padres",
            first=1985,
            last=1992,
            born=1938,
            channel="phone",
            minutes=15,
        ),
        Case(
            "Who managed the Texas Rangers between 1981 and 1986? Invite all of them who were not born before 1930 to"
            " the studio for three quarters of an hour (45 minutes) by booking the interviews.",
            franchise="Texas Rangers",
            first=1981,
            last=1986,
            born=1930,
            channel="studio",
            minutes=45,
        ),
    ),
)

SHORTER_WATCHLIST = Recipe(
    id="shorter_watchlist",
    services=("baseball",),
    split="long",
    type="state",
    program="""
award = next(a for a in list_awards() if a["name"] == $award)["award_id"]
for season in range($first, $last + 1):
    for winner in list_award_winners(award_id=award, season=season):
        watch_player(player_id=winner["player_id"], priority=$priority)
for entry in list_watchlist():
    if get_player(player_id=entry["player_id"])["weight_lb"] > $pounds:
        unwatch_player(player_id=entry["player_id"])
print("done")
""",
    query="""
SELECT json_object('baseball', json_object('watchlist', json_group_array(json_object(
    'player_id', player_id, 'priority', $priority))))
FROM (SELECT DISTINCT p.player_id FROM baseball.awards a JOIN baseball.honours h USING (award_id)
    JOIN baseball.players p USING (player_id)
    WHERE a.name = $award AND h.season BETWEEN $first AND $last AND p.weight_lb <= $pounds)
""",
    cases=(
        Case(
            "Watch all Cy Young Award winners of 2001 to 2003 with priority 3; when they are on the list, take off "
            "again whoever is heavier than 200 pounds.",
            award="Cy Young Award",
            first=2001,
            last=2003,
            priority=3,
            pounds=200,
        ),
        Case(
            "Fill my watchlist at priority 2 from the Rookie of the Year winners of 1990 through 1993. Afterwards "
            "remove each one whose weight is given as more than 195 lb.",
            award="Rookie of the Year",
            first=1990,
            last=1993,
            priority=2,
            pounds=195,
        ),
        Case(
            "I want the Most Valuable Players from 1955, 1956 and 1957 watched (priority 4), but the list is to end "
            "up without the men above 190 pounds, so delete those entries.",
            award="Most Valuable Player",
            first=1955,
            last=1957,
            priority=4,
            pounds=190,
        ),
    ),
)

STRONG_WINNERS = Recipe(
    id="strong_winners",
    services=("baseball",),
    split="long",
    type="state",
    program="""
for season in range($first, $last + 1):
    final = next(s for s in list_postseason_series(season=season) if s["round"] == $round)
    winner = get_postseason_series(series_id=final["series_id"])["winner_team_id"]
    if get_team(team_id=winner)["wins"] >= $wins:
        send_greeting(team_id=winner, occasion=$occasion)
print("done")
""",
    query="""
SELECT json_object('baseball', json_object('greetings', json_group_array(json_object(
    'team_id', t.team_id, 'occasion', $occasion))))
FROM baseball.series s JOIN baseball.teams t ON t.team_id = s.winner_team_id
WHERE s.round = $round AND s.season BETWEEN $first AND $last AND t.wins >= $wins
""",
    cases=(
        Case(
            "Send a greeting for the title to each World Series (WS) winner of 1974 to 1979 that had won 98 games or "
            "more in its regular season.",
            round="WS",
            first=1974,
            last=1979,
            wins=98,
            occasion="title",
        ),
        Case(
            "An anniversary greeting should go to the teams that came out on top in the NLCS in the years from 1998 "
            "until 2002, provided their season had at least 95 victories.",
            round="NLCS",
            first=1998,
            last=2002,
            wins=95,
            occasion="anniversary",
        ),
        Case(
            "For 1986-1990 pick the clubs that won the ALCS after 95 or more regular season wins and greet them, the "
            "occasion being the anniversary of that season.",
            round="ALCS",
            first=1986,
            last=1990,
            wins=95,
            occasion="anniversary",
        ),
    ),
)

RECIPES = (YOUNG_SKIPPERS, SHORTER_WATCHLIST, STRONG_WINNERS)
