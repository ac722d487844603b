"""Recipes about what stands on the programmer's desk."""

from __future__ import annotations

from toolflow_bench.recipes.recipe import Case, Recipe

DESK = (
    Recipe(
        id="watchlist-talk",
        services=("movies",),
        split="long",
        type="text",
        program="""
most = None
for item in list_film_watchlist():
    entry = get_film_links(film_id=item["film_id"])["board_id"]
    total = list_entry_reviews(board_id=entry, from_date=$first, to_date=$last, page_size=1)["total"]
    if most is None or total > most[0]:
        most = total, item["film_id"]
print(get_film(film_id=most[1])["title"])
""",
        query="""
SELECT films.title FROM movies.watchlist JOIN movies.films USING (film_id) JOIN movies.board USING (film_id)
JOIN movies.reviews USING (board_id) WHERE written_on BETWEEN $first AND $last
GROUP BY film_id ORDER BY count(*) DESC LIMIT 1
""",
        cases=(
            Case(
                "Which film on my watchlist got the most board reviews in 2005 (2005-01-01 to 2005-12-31)?",
                first="2005-01-01",
                last="2005-12-31",
            ),
            Case(
                "Members were writing about some of the films I want to watch. From 1996-07-01 until 1996-12-31, which "
                "of those on my list was reviewed most?",
                first="1996-07-01",
                last="1996-12-31",
            ),
        ),
    ),
    Recipe(
        id="own-taste-by-genre",
        services=("movies",),
        split="long",
        type="number",
        tolerance=0.01,
        program="""
names = {genre["genre_id"]: genre["name"] for genre in list_genres()}
scores = []
for rating in list_own_ratings():
    film = rating["film_id"]
    if $genre in [names[genre] for genre in list_film_genres(film_id=film)]:
        scores.append(get_film_score(film_id=film)["mean_score"])
print(round(sum(scores) / len(scores), 2))
""",
        query="""
SELECT avg(mean_score) FROM movies.own_ratings JOIN movies.films USING (film_id)
WHERE film_id IN (SELECT film_id FROM movies.film_genres JOIN movies.genres USING (genre_id) WHERE name = $genre)
""",
        cases=(
            Case(
                "What is the public's mean score, averaged over those films I have rated myself that are comedies? Two "
                "decimals.",
                genre="Comedy",
            ),
            Case(
                "Take every title with a rating of mine in the genre Romance and give me the average of their public "
                "scores, to hundredths.",
                genre="Romance",
            ),
            Case(
                "How highly, on average and with two digits after the point, does the audience at large score the "
                "dramas (genre Drama) among my rated films?",
                genre="Drama",
            ),
        ),
    ),
    Recipe(
        id="youngest-guest",
        services=("movies",),
        split="long",
        type="text",
        program="""
winners = []
for screening in list_screenings():
    if screening["date"] >= $first:
        for award in list_film_awards(film_id=screening["film_id"]):
            winners.append(get_person(person_id=get_award(award_id=award)["person_id"]))
print(max(winners, key=lambda winner: winner["born_on"])["name"])
""",
        query="""
SELECT people.name FROM movies.screenings JOIN movies.awards USING (film_id) JOIN movies.people USING (person_id)
WHERE date >= $first ORDER BY born_on DESC LIMIT 1
""",
        cases=(
            Case(
                "Some films in our festival programme won people leading-role Oscars. Considering screenings on or "
                "after 2027-06-04, which of those winners was born last?",
                first="2027-06-04",
            ),
            Case(
                "Who has the latest date of birth out of the best actors and best actresses honoured for what we are "
                "showing at the festival from 2027-06-06 onwards?",
                first="2027-06-06",
            ),
        ),
    ),
    Recipe(
        id="guests-birthplaces",
        services=("movies",),
        split="long",
        type="set",
        program="""
import json

names = {place["place_id"]: place["name"] for place in list_birthplaces()}
found = set()
for screening in list_screenings(date=$day):
    for award in list_film_awards(film_id=screening["film_id"]):
        winner = get_person(person_id=get_award(award_id=award)["person_id"])
        found.add(names[winner["place_id"]])
print(json.dumps(sorted(found)))
""",
        query="""
SELECT DISTINCT places.name FROM movies.screenings JOIN movies.awards USING (film_id)
JOIN movies.people USING (person_id) JOIN movies.places USING (place_id) WHERE date = $day
""",
        cases=(
            Case(
                "Our festival shows several films on 2027-06-05. Where were the people born who won best actor or best "
                "actress with them? List each place once.",
                day="2027-06-05",
            ),
        ),
    ),
)
