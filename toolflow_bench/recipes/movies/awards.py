"""Recipes about the Academy Awards for leading roles."""

# Queries are put together from our own names only.
# ruff: noqa: S608

from __future__ import annotations

from toolflow_bench.recipes.movies.parts import FIND, WON
from toolflow_bench.recipes.recipe import Case, Recipe

AWARDS = (
    Recipe(
        id="cheapest-winner",
        services=("movies",),
        split="long",
        type="text",
        program="""
cheapest = None
for year in range($first, $last + 1):
    for listed in list_ceremony_awards(ceremony_year=year):
        award = get_award(award_id=listed["award_id"])
        budget = get_film_budget(film_id=award["film_id"])["budget_usd"]
        if budget is not None and (cheapest is None or budget < cheapest[0]):
            cheapest = budget, award["film_id"]
print(get_film(film_id=cheapest[1])["title"])
""",
        query=f"""
SELECT films.title FROM {WON} WHERE ceremony_year BETWEEN $first AND $last AND budget_usd IS NOT NULL
ORDER BY budget_usd LIMIT 1
""",
        cases=(
            Case(
                "Which film cost the least to make among those that won somebody a best actor or best actress Oscar at "
                "the ceremonies of 1962 to 1965? Leave out films whose budget isn't known.",
                first=1962,
                last=1965,
            ),
            Case(
                "I am writing about thrifty Oscar vehicles. At the Academy Awards of 1976 through 1979, leading-role "
                "winners came from which low spender? Give me the title with the smallest known production budget.",
                first=1976,
                last=1979,
            ),
            Case(
                "Look at the leading actor and actress awards handed out from 1999 to 2002. One of the winning films "
                "had a smaller budget than any other with a known one. What is it called?",
                first=1999,
                last=2002,
            ),
        ),
    ),
    Recipe(
        id="place-mean-score",
        services=("movies",),
        split="long",
        type="number",
        tolerance=0.01,
        program="""
place = next(place["place_id"] for place in list_birthplaces() if place["name"] == $place)
films = set()
for person in list_people_born_in(place_id=place):
    for award in list_person_awards(person_id=person):
        films.add(get_award(award_id=award)["film_id"])
scores = [get_film_score(film_id=film)["mean_score"] for film in sorted(films)]
known = [score for score in scores if score is not None]
print(round(sum(known) / len(known), 2))
""",
        query=f"""
WITH won AS (SELECT DISTINCT film_id, mean_score FROM {WON} WHERE places.name = $place)
SELECT avg(mean_score) FROM won
""",
        cases=(
            Case(
                "Take everyone born in Wisconsin who won a leading-role Oscar and the films they won with. What is the "
                "average public score of those films, to two decimals? Count each film once; skip those never scored.",
                place="Wisconsin",
            ),
            Case(
                "For a piece on Ohio: the films that earned Ohio-born actors and actresses their lead Oscars, how well "
                "does the public rate them on average (1 to 10, two decimals)?",
                place="Ohio",
            ),
            Case(
                "How do audiences like the pictures for which natives of Virginia got Academy Awards in leading roles? "
                "I need the plain mean of the films' scores, rounded to hundredths, ignoring any without a score.",
                place="Virginia",
            ),
        ),
    ),
    Recipe(
        id="oldest-compatriot",
        services=("movies",),
        split="long",
        type="text",
        program=FIND
        + """
award = list_film_awards(film_id=find($title, $year))[0]
winner = get_award(award_id=award)["person_id"]
place = get_person(person_id=winner)["place_id"]
others = [get_person(person_id=person) for person in list_people_born_in(place_id=place) if person != winner]
print(min(others, key=lambda person: person["born_on"])["name"])
""",
        query="""
WITH winner AS (
    SELECT p.person_id, p.place_id FROM movies.awards a JOIN movies.people p USING (person_id)
    JOIN movies.films f USING (film_id) WHERE f.title = $title AND f.year = $year)
SELECT name FROM movies.people WHERE place_id = (SELECT place_id FROM winner)
AND person_id != (SELECT person_id FROM winner) ORDER BY born_on LIMIT 1
""",
        cases=(
            Case(
                "Somebody won a leading-role Oscar for Fargo (1996). Of the other leading-role winners born in the "
                "same state, who was born first?",
                title="Fargo",
                year=1996,
            ),
            Case(
                "Coal Miner's Daughter from 1980 brought its star an Oscar. Name the earliest-born fellow winner of a "
                "lead-acting Oscar who comes from the star's home state.",
                title="Coal Miner's Daughter",
                year=1980,
            ),
            Case(
                "Which winner of a best actor or best actress Oscar is the oldest by date of birth among those who "
                "share a birthplace with the lead-acting winner of Amadeus (1984), that winner not counted?",
                title="Amadeus",
                year=1984,
            ),
        ),
    ),
    Recipe(
        id="most-tens",
        services=("movies",),
        split="long",
        type="text",
        program="""
person = next(found["person_id"] for found in search_people(name=$name) if found["name"] == $name)
tens = {}
for award in list_person_awards(person_id=person):
    film = get_award(award_id=award)["film_id"]
    bars = get_score_histogram(film_id=film)
    tens[film] = next(bar["share_percent"] for bar in bars if bar["score"] == 10)
print(get_film(film_id=max(tens, key=tens.get))["title"])
""",
        query=f"""
SELECT films.title FROM {WON} WHERE people.name = $name ORDER BY share_10 DESC LIMIT 1
""",
        cases=(
            Case(
                "Katharine Hepburn collected several Oscars as best actress. For which of these films did the largest "
                "share of voters give a full 10 out of 10?",
                name="Katharine Hepburn",
            ),
            Case(
                "Marlon Brando won twice as best actor. Which of his two winning pictures has the higher band of "
                "perfect tens among the public's votes?",
                name="Marlon Brando",
            ),
            Case(
                "Compare the movies Luise Rainer got her Academy Awards for: whose score histogram shows more 10s, in "
                "percent? Just the title, please.",
                name="Luise Rainer",
            ),
        ),
    ),
    Recipe(
        id="youngest-birthplace",
        services=("movies",),
        split="long",
        type="text",
        program="""
awards = []
for year in range($first, $last + 1):
    for listed in list_ceremony_awards(ceremony_year=year):
        awards.append(get_award(award_id=listed["award_id"]))
youngest = min(awards, key=lambda award: award["age_years"])
place = get_person(person_id=youngest["person_id"])["place_id"]
print(next(known["name"] for known in list_birthplaces() if known["place_id"] == place))
""",
        query=f"""
SELECT places.name FROM {WON} WHERE ceremony_year BETWEEN $first AND $last ORDER BY age_years LIMIT 1
""",
        cases=(
            Case(
                "Where was the youngest winner of a leading-role Oscar at the ceremonies of 1985 to 1989 born? I want "
                "the state or country.",
                first=1985,
                last=1989,
            ),
            Case(
                "Between the 1945 and the 1949 Academy Awards, both included, which place did the best actor or "
                "actress who was youngest at the ceremony come from?",
                first=1945,
                last=1949,
            ),
            Case(
                "Tell me the birthplace of whoever was the youngest at winning a lead-acting Oscar in the years 2010, "
                "2011, 2012, 2013 and 2014.",
                first=2010,
                last=2014,
            ),
        ),
    ),
    Recipe(
        id="most-reviewed-winner",
        services=("movies",),
        split="long",
        type="text",
        program="""
most = None
for year in range($first, $last + 1):
    for listed in list_ceremony_awards(ceremony_year=year):
        film = get_award(award_id=listed["award_id"])["film_id"]
        entry = get_film_links(film_id=film)["board_id"]
        if entry is not None:
            total = list_entry_reviews(board_id=entry, to_date=$until, page_size=1)["total"]
            if most is None or total > most[0]:
                most = total, film
print(get_film(film_id=most[1])["title"])
""",
        query=f"""
SELECT films.title FROM {WON} JOIN movies.board USING (film_id) JOIN movies.reviews USING (board_id)
WHERE ceremony_year BETWEEN $first AND $last AND written_on <= $until
GROUP BY award_id ORDER BY count(*) DESC LIMIT 1
""",
        cases=(
            Case(
                "Of the films that won best actor or best actress at the Oscars from 1987 to 1990, which had drawn the "
                "most reviews on the members' board by the end of 2000 (up to and including 2000-12-31)?",
                first=1987,
                last=1990,
                until="2000-12-31",
            ),
            Case(
                "Board members reviewed some Oscar films a lot. Up to and including 2008-06-30, which picture that "
                "took a lead-acting award at the ceremonies from 1996 through 1998 had the most reviews?",
                first=1996,
                last=1998,
                until="2008-06-30",
            ),
        ),
    ),
    Recipe(
        id="worst-score-winner",
        services=("movies",),
        split="long",
        type="text",
        program="""
lowest = None
for year in range($first, $last + 1):
    for listed in list_ceremony_awards(ceremony_year=year):
        film = get_award(award_id=listed["award_id"])["film_id"]
        score = get_film_score(film_id=film)["mean_score"]
        if lowest is None or score < lowest[0]:
            lowest = score, film
print(get_film(film_id=lowest[1])["title"])
""",
        query=f"""
SELECT films.title FROM {WON} WHERE ceremony_year BETWEEN $first AND $last ORDER BY mean_score LIMIT 1
""",
        cases=(
            Case(
                "Not every Oscar film is loved. Which one that earned a lead-acting award at the ceremonies of 1973, "
                "1974 or 1975 has the lowest public score?",
                first=1973,
                last=1975,
            ),
            Case(
                "Name the winning film in the leading categories of the Academy Awards from 1985 to 1988 that the "
                "public thinks least of, by mean score.",
                first=1985,
                last=1988,
            ),
        ),
    ),
)
