"""Recipes of one or two calls."""

from __future__ import annotations

from toolflow_bench.recipes.recipe import Case, Recipe

BIRTHPLACE = Recipe(
    id="birthplace",
    services=("baseball",),
    split="short",
    type="text",
    program="""
player = next(p for p in search_players(query=$player)["players"] if p["name"] == $player)
print(get_player(player_id=player["player_id"])["birth_city"])
""",
    query="SELECT birth_city FROM baseball.players WHERE name = $player",
    cases=(
        Case("In which city was Johnny Bench born?", player="Johnny Bench"),
        Case("Satchel Paige came from what town?", player="Satchel Paige"),
        Case(
            "Tell me the birthplace (just the city) of the pitcher Fernando Valenzuela.", player="Fernando Valenzuela"
        ),
    ),
)

TOP_SALARY = Recipe(
    id="top_salary",
    services=("baseball",),
    split="short",
    type="number",
    program="""
player = next(p for p in search_players(query=$player)["players"] if p["name"] == $player)
print(max(one["salary_usd"] for one in list_player_salaries(player_id=player["player_id"])))
""",
    query="""
SELECT max(s.salary_usd) FROM baseball.players p JOIN baseball.salaries s USING (player_id) WHERE p.name = $player
""",
    cases=(
        Case("How many dollars did Kirby Puckett earn in his best paid season?", player="Kirby Puckett"),
        Case("What is the highest yearly salary on record for Greg Maddux, in US dollars?", player="Greg Maddux"),
        Case("Rickey Henderson's largest pay for one season: what was it, in dollars?", player="Rickey Henderson"),
    ),
)

BALLOT_SHARE = Recipe(
    id="ballot_share",
    services=("baseball",),
    split="short",
    type="number",
    tolerance=0.05,
    program="""
player = next(p for p in search_players(query=$player)["players"] if p["name"] == $player)
votes = list_hall_of_fame_votes(player_id=player["player_id"])
elected = next(vote for vote in votes if vote["inducted"])
print(round(100 * elected["votes"] / elected["ballots"], 1))
""",
    query="""
SELECT 100.0 * b.votes / b.ballots FROM baseball.players p JOIN baseball.ballots b USING (player_id)
WHERE p.name = $player AND b.inducted = 'Y'
""",
    cases=(
        Case(
            "What percentage of the ballots named Nolan Ryan when he was elected to the Hall of Fame? One decimal.",
            player="Nolan Ryan",
        ),
        Case(
            "Yogi Berra got into the Hall of Fame in the end. On how many percent of the ballots cast in that vote "
            "did he stand, to one decimal place?",
            player="Yogi Berra",
        ),
        Case(
            "By what share of the voters, in percent with one decimal, was Barry Larkin voted into Cooperstown?",
            player="Barry Larkin",
        ),
    ),
)

SCHOOL_CITY = Recipe(
    id="school_city",
    services=("baseball",),
    split="short",
    type="text",
    program="""
school = next(s for s in search_schools(query=$school) if s["name"] == $school)
print(get_school(school_id=school["school_id"])["city"])
""",
    query="SELECT city FROM baseball.schools WHERE name = $school",
    cases=(
        Case("Which city is Creighton University in?", school="Creighton University"),
        Case("I want to visit Bucknell University: to what town must I go?", school="Bucknell University"),
        Case("Where (city only) can one find Pepperdine University?", school="Pepperdine University"),
    ),
)

RECIPES = (
    BIRTHPLACE,
    TOP_SALARY,
    BALLOT_SHARE,
    SCHOOL_CITY,
)
