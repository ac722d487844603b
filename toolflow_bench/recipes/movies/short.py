"""Recipes of one to six calls."""

# Queries are put together from our own names only.
# ruff: noqa: S608

from __future__ import annotations

from toolflow_bench.recipes.movies.parts import FIND, SEEN, WON
from toolflow_bench.recipes.recipe import Case, Recipe

SHORT = (
    Recipe(
        id="runtime",
        services=("movies",),
        split="short",
        type="number",
        program=FIND
        + """
print(get_film(film_id=find($title, $year))["runtime_minutes"])
""",
        query="SELECT runtime_minutes FROM movies.films WHERE title = $title AND year = $year",
        cases=(
            Case("How many minutes does Lawrence of Arabia (1962) run?", title="Lawrence of Arabia", year=1962),
            Case("What is the running time, in minutes, of the 1995 film Heat?", title="Heat", year=1995),
            Case("Give me the length of Metropolis from 1927 in minutes.", title="Metropolis", year=1927),
            Case(
                "I'd like to know if Barry Lyndon (1975) fits our slot: its duration as a number of minutes, please.",
                title="Barry Lyndon",
                year=1975,
            ),
        ),
    ),
    Recipe(
        id="budget",
        services=("movies",),
        split="short",
        type="number",
        program=FIND
        + """
print(get_film_budget(film_id=find($title, $year))["budget_usd"])
""",
        query="SELECT budget_usd FROM movies.films WHERE title = $title AND year = $year",
        cases=(
            Case("What did it cost to make Titanic (1997), in US dollars?", title="Titanic", year=1997),
            Case(
                "How big was the dollar budget of The Blair Witch Project from 1999?",
                title="The Blair Witch Project",
                year=1999,
            ),
            Case("Look up the production budget (USD) of the 1942 movie Casablanca.", title="Casablanca", year=1942),
            Case("With how many dollars was Waterworld, released in 1995, produced?", title="Waterworld", year=1995),
        ),
    ),
    Recipe(
        id="date-of-birth",
        services=("movies",),
        split="short",
        type="text",
        program="""
person = next(found["person_id"] for found in search_people(name=$name) if found["name"] == $name)
print(get_person(person_id=person)["born_on"])
""",
        query="SELECT born_on FROM movies.people WHERE name = $name",
        cases=(
            Case("When was Jeremy Irons born? Write the date as YYYY-MM-DD.", name="Jeremy Irons"),
            Case("Audrey Hepburn's date of birth, please, in the form YYYY-MM-DD.", name="Audrey Hepburn"),
            Case("On which day (YYYY-MM-DD) did Sidney Poitier come into the world?", name="Sidney Poitier"),
        ),
    ),
    Recipe(
        id="winner-age",
        services=("movies",),
        split="short",
        type="number",
        program=FIND
        + """
award = list_film_awards(film_id=find($title, $year))[0]
print(get_award(award_id=award)["age_years"])
""",
        query=f"SELECT age_years FROM {WON} WHERE films.title = $title AND films.year = $year",
        cases=(
            Case(
                "How old, in years at the ceremony, was the person who won a leading-role Oscar for Moonstruck (1987)?",
                title="Moonstruck",
                year=1987,
            ),
            Case(
                "The Pianist of 2002 brought one lead actor an Academy Award. At what age did he receive it?",
                title="The Pianist",
                year=2002,
            ),
            Case(
                "Misery (1990) earned its star best actress. State her age when she got the prize.",
                title="Misery",
                year=1990,
            ),
            Case(
                "What was the winner's age, in whole years, for the best actor Oscar that went to True Grit (1969)?",
                title="True Grit",
                year=1969,
            ),
        ),
    ),
    Recipe(
        id="count-reviews",
        services=("movies",),
        split="short",
        type="number",
        program=FIND
        + """
entry = get_film_links(film_id=find($title, $year))["board_id"]
print(list_entry_reviews(board_id=entry, from_date=$first, to_date=$last, page_size=1)["total"])
""",
        query=f"""
SELECT count(*) FROM {SEEN} WHERE films.title = $title AND films.year = $year AND written_on BETWEEN $first AND $last
""",
        cases=(
            Case(
                "How many reviews of Toy Story (1995) did board members write from 2010-01-01 to 2010-12-31?",
                title="Toy Story",
                year=1995,
                first="2010-01-01",
                last="2010-12-31",
            ),
            Case(
                "Count the member reviews that Jaws, the 1975 film, collected between 2000-01-01 and 2004-12-31 "
                "inclusive.",
                title="Jaws",
                year=1975,
                first="2000-01-01",
                last="2004-12-31",
            ),
            Case(
                "What number of people reviewed Gladiator (2000) on the board within 2005-06-01 through 2006-05-31?",
                title="Gladiator",
                year=2000,
                first="2005-06-01",
                last="2006-05-31",
            ),
            Case(
                "In the nineties, say 1996-01-01 up to 1999-12-31, how often was Vertigo (1958) reviewed by members?",
                title="Vertigo",
                year=1958,
                first="1996-01-01",
                last="1999-12-31",
            ),
        ),
    ),
    Recipe(
        id="vote-gap",
        services=("movies",),
        split="short",
        type="number",
        program=FIND
        + """
votes = get_film_score(film_id=find($more, $more_year))["votes"]
print(votes - get_film_score(film_id=find($fewer, $fewer_year))["votes"])
""",
        query="""
SELECT (SELECT votes FROM movies.films WHERE title = $more AND year = $more_year)
    - (SELECT votes FROM movies.films WHERE title = $fewer AND year = $fewer_year)
""",
        cases=(
            Case(
                "How many more public votes does The Matrix (1999) have than Blade Runner (1982)?",
                more="The Matrix",
                more_year=1999,
                fewer="Blade Runner",
                fewer_year=1982,
            ),
            Case(
                "By what number of votes is Shrek from 2001 ahead of Finding Nemo from 2003 with the public?",
                more="Shrek",
                more_year=2001,
                fewer="Finding Nemo",
                fewer_year=2003,
            ),
            Case(
                "Psycho (1960) drew a bigger crowd of voters than The Birds (1963). What is the difference?",
                more="Psycho",
                more_year=1960,
                fewer="The Birds",
                fewer_year=1963,
            ),
        ),
    ),
    Recipe(
        id="winner-birthplace",
        services=("movies",),
        split="short",
        type="text",
        program=FIND
        + """
award = list_film_awards(film_id=find($title, $year))[0]
winner = get_person(person_id=get_award(award_id=award)["person_id"])
print(next(place["name"] for place in list_birthplaces() if place["place_id"] == winner["place_id"]))
""",
        query=f"SELECT places.name FROM {WON} WHERE films.title = $title AND films.year = $year",
        cases=(
            Case(
                "In which state was the winner of the leading-role Oscar for Blue Sky (1994) born?",
                title="Blue Sky",
                year=1994,
            ),
            Case(
                "Where does the lead who got an Academy Award for Marty, the film of 1955, come from by birth?",
                title="Marty",
                year=1955,
            ),
            Case(
                "Tell me the birthplace of the star honoured with an Oscar for The King and I (1956).",
                title="The King and I",
                year=1956,
            ),
            Case(
                "Shine (1996) won its leading man a prize from the Academy. His country of birth?",
                title="Shine",
                year=1996,
            ),
        ),
    ),
    Recipe(
        id="older-winner",
        services=("movies",),
        split="short",
        type="text",
        program="""
winners = []
for listed in list_ceremony_awards(ceremony_year=$year):
    award = get_award(award_id=listed["award_id"])
    winners.append(get_person(person_id=award["person_id"]))
print(min(winners, key=lambda winner: winner["born_on"])["name"])
""",
        query=f"SELECT people.name FROM {WON} WHERE ceremony_year = $year ORDER BY born_on LIMIT 1",
        cases=(
            Case("Two people got leading-role Oscars at the 1992 ceremony. Who of them was born earlier?", year=1992),
            Case(
                "Best actor and best actress of 2002: give the name of whichever winner is the older, going by date of "
                "birth.",
                year=2002,
            ),
            Case(
                "Which winner in the two leading categories had the earlier birthday, year included, at the Academy "
                "Awards counted under 1960?",
                year=1960,
            ),
            Case("Name the elder of the pair honoured for lead roles by the Academy in 1996.", year=1996),
        ),
    ),
    Recipe(
        id="reviews-of-winner",
        services=("movies",),
        split="short",
        type="number",
        program="""
person = next(found["person_id"] for found in search_people(name=$name) if found["name"] == $name)
award = list_person_awards(person_id=person)[0]
entry = get_film_links(film_id=get_award(award_id=award)["film_id"])["board_id"]
print(list_entry_reviews(board_id=entry, page_size=1)["total"])
""",
        query=f"""
SELECT count(*) FROM {WON} JOIN movies.board USING (film_id) JOIN movies.reviews USING (board_id)
WHERE people.name = $name
""",
        cases=(
            Case(
                "How many reviews has the board got of the film that Al Pacino won his leading-role Oscar for?",
                name="Al Pacino",
            ),
            Case(
                "Julia Roberts has one Academy Award for a lead. What's the total of member reviews of that movie?",
                name="Julia Roberts",
            ),
            Case(
                "Of the picture behind Charlton Heston's best actor prize, give the number of reviews by board "
                "members.",
                name="Charlton Heston",
            ),
        ),
    ),
)
