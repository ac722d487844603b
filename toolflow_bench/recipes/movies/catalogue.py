"""Recipes about the catalogue: genres, lengths, votes, budgets and box office."""

from __future__ import annotations

from toolflow_bench.recipes.movies.parts import FIND
from toolflow_bench.recipes.recipe import Case, Recipe

CATALOGUE = (
    Recipe(
        id="best-long-of-genre",
        services=("movies",),
        split="long",
        type="text",
        program="""
names = {genre["genre_id"]: genre["name"] for genre in list_genres()}
best = None
found = find_films_by_runtime(year=$year, min_minutes=$least, max_minutes=$most, page_size=200)
for listed in found["films"]:
    film = listed["film_id"]
    if $genre in [names[genre] for genre in list_film_genres(film_id=film)]:
        score = get_film_score(film_id=film)["mean_score"]
        if best is None or score > best[0]:
            best = score, film
print(get_film(film_id=best[1])["title"])
""",
        query="""
SELECT title FROM movies.films JOIN movies.film_genres USING (film_id) JOIN movies.genres USING (genre_id)
WHERE films.year = $year AND runtime_minutes BETWEEN $least AND $most AND name = $genre
ORDER BY mean_score DESC LIMIT 1
""",
        cases=(
            Case(
                "Which drama of 1956 that runs from 195 to 225 minutes does the public score highest?",
                year=1956,
                least=195,
                most=225,
                genre="Drama",
            ),
            Case(
                "I have a whole evening: among films released in 1963 and lasting at least 165 and at most 240 "
                "minutes, what is the title of the best-scored one that belongs to the genre Drama?",
                year=1963,
                least=165,
                most=240,
                genre="Drama",
            ),
            Case(
                "Give me the Romance with the top public score out of everything from 1960 whose length lies between "
                "165 and 240 minutes, both included.",
                year=1960,
                least=165,
                most=240,
                genre="Romance",
            ),
        ),
    ),
    Recipe(
        id="most-voted-in-both-genres",
        services=("movies",),
        split="long",
        type="text",
        program="""
genres = {genre["name"]: genre["genre_id"] for genre in list_genres()}

def films(name):
    found, page, pages = set(), 1, 1
    while page <= pages:
        answer = list_films_of_genre(genre_id=genres[name], year=$year, page=page, page_size=200)
        found |= {film["film_id"] for film in answer["films"]}
        page, pages = page + 1, answer["pages"]
    return found

votes = {film: get_film_score(film_id=film)["votes"] for film in sorted(films($one) & films($other))}
print(get_film(film_id=max(votes, key=votes.get))["title"])
""",
        query="""
SELECT title FROM movies.films WHERE year = $year AND (
    SELECT count(*) FROM movies.film_genres JOIN movies.genres USING (genre_id)
    WHERE film_genres.film_id = films.film_id AND name IN ($one, $other)) = 2
ORDER BY votes DESC LIMIT 1
""",
        cases=(
            Case(
                "Some films of 1997 are filed as both Action and Animation. Which of them has the most votes from the "
                "public?",
                year=1997,
                one="Action",
                other="Animation",
            ),
            Case(
                "What's the title that drew the biggest number of public votes among 1991 releases belonging to Action "
                "and to Romance at once?",
                year=1991,
                one="Action",
                other="Romance",
            ),
            Case(
                "For the year 2003, find the film in the two genres Action and Animation together that most people "
                "voted on.",
                year=2003,
                one="Action",
                other="Animation",
            ),
        ),
    ),
    Recipe(
        id="tens-of-most-voted",
        services=("movies",),
        split="long",
        type="number",
        tolerance=0.05,
        program="""
votes = {}
for film in list_films_of_year(year=$year, page_size=200)["films"]:
    votes[film["film_id"]] = get_film_score(film_id=film["film_id"])["votes"]
most = max(votes, key=votes.get)
print(next(bar["share_percent"] for bar in get_score_histogram(film_id=most) if bar["score"] == $score))
""",
        query="""
SELECT CASE $score WHEN 10 THEN share_10 ELSE share_6 END FROM movies.films WHERE year = $year
ORDER BY votes DESC LIMIT 1
""",
        cases=(
            Case(
                "Of all films from 1896, take the one with the most public votes. What share of its votes, in percent "
                "as the archive bands it, was a 10?",
                year=1896,
                score=10,
            ),
            Case(
                "Early cinema check: which percentage (banded) of the voters gave a score of 6 to the most voted-on "
                "film that was released in 1894?",
                year=1894,
                score=6,
            ),
        ),
    ),
    Recipe(
        id="budget-per-vote",
        services=("movies",),
        split="long",
        type="number",
        tolerance=0.01,
        program=FIND
        + """
budget = votes = 0
for title, year in (($one, $one_year), ($two, $two_year), ($three, $three_year)):
    film = find(title, year)
    budget += get_film_budget(film_id=film)["budget_usd"]
    votes += get_film_score(film_id=film)["votes"]
print(round(budget / votes, 2))
""",
        query="""
SELECT sum(budget_usd) * 1.0 / sum(votes) FROM movies.films WHERE (title, year) IN
    (VALUES ($one, $one_year), ($two, $two_year), ($three, $three_year))
""",
        cases=(
            Case(
                "Add up the budgets of Die Hard (1988), Die Hard 2 (1990) and Die Hard: With a Vengeance (1995) and "
                "divide by the number of public votes that the three got together. How many dollars a vote is that, to "
                "the cent?",
                one="Die Hard",
                one_year=1988,
                two="Die Hard 2",
                two_year=1990,
                three="Die Hard: With a Vengeance",
                three_year=1995,
            ),
            Case(
                "Treat Alien (1979), Aliens (1986) and Alien: Resurrection (1997) as one investment. What did it cost "
                "per public vote received, in dollars with two decimals: total budget over total votes?",
                one="Alien",
                one_year=1979,
                two="Aliens",
                two_year=1986,
                three="Alien: Resurrection",
                three_year=1997,
            ),
        ),
    ),
    Recipe(
        id="reviews-per-dollar",
        services=("movies",),
        split="long",
        type="text",
        program="""
best = None
for listed in list_box_office(page_size=200)["releases"]:
    if $first <= listed["released_on"] <= $last:
        release = get_box_office(box_office_id=listed["box_office_id"])
        entry = get_film_links(film_id=release["film_id"])["board_id"]
        reviews = list_entry_reviews(board_id=entry, page_size=1)["total"]
        if best is None or reviews / release["worldwide_gross_usd"] > best[0]:
            best = reviews / release["worldwide_gross_usd"], release["film_id"]
print(get_film(film_id=best[1])["title"])
""",
        query="""
SELECT title FROM movies.box_office JOIN movies.films USING (film_id)
WHERE released_on BETWEEN $first AND $last
ORDER BY (SELECT count(*) FROM movies.board JOIN movies.reviews USING (board_id) WHERE board.film_id = films.film_id)
    * 1.0 / worldwide_gross_usd DESC LIMIT 1
""",
        cases=(
            Case(
                "Relative to what it took around the globe, which of the Marvel releases dated 2013-05-01 through "
                "2015-12-31 was reviewed most by the members of the board?",
                first="2013-05-01",
                last="2015-12-31",
            ),
        ),
    ),
    Recipe(
        id="stars-of-smallest-opening",
        services=("movies",),
        split="long",
        type="number",
        tolerance=0.01,
        program="""
releases = []
for listed in list_box_office(year=$year, page_size=200)["releases"]:
    releases.append(get_box_office(box_office_id=listed["box_office_id"]))
smallest = min(releases, key=lambda release: release["opening_weekend_usd"])
entry = get_film_links(film_id=smallest["film_id"])["board_id"]
reviews = list_entry_reviews(board_id=entry, to_date=$until, page_size=200)["reviews"]
stars = [get_review(review_id=review["review_id"])["stars"] for review in reviews]
print(round(sum(stars) / len(stars), 2))
""",
        query="""
WITH smallest AS (
    SELECT film_id FROM movies.box_office WHERE released_on LIKE $year || '-%'
    ORDER BY opening_weekend_usd LIMIT 1)
SELECT avg(stars) FROM movies.reviews JOIN movies.board USING (board_id)
WHERE film_id = (SELECT film_id FROM smallest) AND written_on <= $until
""",
        cases=(
            Case(
                "Think of the Marvel film with the smaller US opening weekend in 2015. How many stars on average do "
                "the board's reviews of it up to and including 2016-06-30 give, to two decimals?",
                year=2015,
                until="2016-06-30",
            ),
            Case(
                "Two Marvel pictures came out in 2014. For the one that opened weaker in the USA, I want the mean of "
                "the stars in all reviews written by the end of 2014-12-31, in hundredths.",
                year=2014,
                until="2014-12-31",
            ),
            Case(
                "Whichever Marvel release of 2013 took less on its first US weekend: what average rating in stars, "
                "with two decimals, had members given it by 2015-12-31 (that day included)?",
                year=2013,
                until="2015-12-31",
            ),
        ),
    ),
)
