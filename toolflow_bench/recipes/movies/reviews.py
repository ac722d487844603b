"""Recipes about the reviews of films, and their tags."""

# Queries are put together from our own names only.
# ruff: noqa: S608

from __future__ import annotations

from toolflow_bench.recipes.movies.parts import FIND, SEEN
from toolflow_bench.recipes.recipe import Case, Recipe

REVIEWS = (
    Recipe(
        id="mean-stars-in-period",
        services=("movies",),
        split="long",
        type="number",
        tolerance=0.01,
        program=FIND
        + """
entry = get_film_links(film_id=find($title, $year))["board_id"]
reviews = list_entry_reviews(board_id=entry, from_date=$first, to_date=$last, page_size=200)["reviews"]
stars = [get_review(review_id=review["review_id"])["stars"] for review in reviews]
print(round(sum(stars) / len(stars), 2))
""",
        query=f"""
SELECT avg(stars) FROM {SEEN} WHERE films.title = $title AND films.year = $year AND written_on BETWEEN $first AND $last
""",
        cases=(
            Case(
                "How many stars on average did board members give Fight Club (1999) in the reviews they wrote from "
                "1999-01-01 to 1999-12-31? Two decimals.",
                title="Fight Club",
                year=1999,
                first="1999-01-01",
                last="1999-12-31",
            ),
            Case(
                "I need the mean rating in stars, rounded to two places, of The Godfather from 1972 over all member "
                "reviews dated between 2010-01-01 and 2010-12-31 inclusive.",
                title="The Godfather",
                year=1972,
                first="2010-01-01",
                last="2010-12-31",
            ),
        ),
    ),
    Recipe(
        id="most-active-reviewer",
        services=("movies",),
        split="long",
        type="number",
        program=FIND
        + """
entry = get_film_links(film_id=find($title, $year))["board_id"]
reviews = list_entry_reviews(board_id=entry, from_date=$first, to_date=$last, page_size=200)["reviews"]
totals = {}
for review in reviews:
    reviewer = review["reviewer_id"]
    totals[reviewer] = list_reviewer_reviews(reviewer_id=reviewer, page_size=1)["total"]
print(get_reviewer(reviewer_id=max(totals, key=totals.get))["member_number"])
""",
        query=f"""
WITH who AS (
    SELECT reviewer_id, member_number FROM {SEEN}
    WHERE films.title = $title AND films.year = $year AND written_on BETWEEN $first AND $last)
SELECT member_number FROM who JOIN movies.reviews USING (reviewer_id) GROUP BY 1 ORDER BY count(*) DESC LIMIT 1
""",
        cases=(
            Case(
                "Among the members who reviewed The Matrix (1999) from 2014-01-01 to 2014-12-31, who has written the "
                "most reviews of films altogether? Give the membership number.",
                title="The Matrix",
                year=1999,
                first="2014-01-01",
                last="2014-12-31",
            ),
            Case(
                "What's the member number of the busiest reviewer, counting everything they ever reviewed, of those "
                "who wrote about Star Wars (1977) on any day between 2003-01-01 and 2003-12-31?",
                title="Star Wars",
                year=1977,
                first="2003-01-01",
                last="2003-12-31",
            ),
            Case(
                "American Beauty from 1999 was reviewed by several people within 2012-01-01 and 2012-12-31. Which of "
                "them, by membership number, has the longest list of reviews in total?",
                title="American Beauty",
                year=1999,
                first="2012-01-01",
                last="2012-12-31",
            ),
        ),
    ),
    Recipe(
        id="earliest-reviewer",
        services=("movies",),
        split="long",
        type="number",
        program=FIND
        + """
entry = get_film_links(film_id=find($title, $year))["board_id"]
reviewers = []
for review in list_entry_reviews(board_id=entry, page_size=200)["reviews"]:
    reviewers.append(get_reviewer(reviewer_id=review["reviewer_id"]))
earliest = min(reviewers, key=lambda reviewer: reviewer["first_review_on"])
day = earliest["first_review_on"]
print(list_reviewer_reviews(reviewer_id=earliest["reviewer_id"], from_date=day, to_date=day, page_size=1)["total"])
""",
        query=f"""
WITH who AS (SELECT reviewer_id FROM {SEEN} WHERE films.title = $title AND films.year = $year)
SELECT count(*) FROM who JOIN movies.reviews USING (reviewer_id)
GROUP BY reviewer_id, written_on ORDER BY written_on LIMIT 1
""",
        cases=(
            Case(
                "Of all members who reviewed Network (1976), take the one who started reviewing on the board first. "
                "How many reviews did that member write on the very first day?",
                title="Network",
                year=1976,
            ),
            Case(
                "Find the veteran, the person whose very first review is the oldest out of everybody that has reviewed "
                "Patton, the 1970 film. What number of reviews does the veteran have from that first date (UTC)?",
                title="Patton",
                year=1970,
            ),
        ),
    ),
    Recipe(
        id="common-reviewers",
        services=("movies",),
        split="long",
        type="set",
        program=FIND
        + """
import json

def reviewers(title, year):
    entry = get_film_links(film_id=find(title, year))["board_id"]
    return {review["reviewer_id"] for review in list_entry_reviews(board_id=entry, page_size=200)["reviews"]}

both = reviewers($one, $one_year) & reviewers($other, $other_year)
print(json.dumps(sorted(get_reviewer(reviewer_id=reviewer)["member_number"] for reviewer in both)))
""",
        query=f"""
SELECT member_number FROM {SEEN} WHERE films.title = $one AND films.year = $one_year
INTERSECT SELECT member_number FROM {SEEN} WHERE films.title = $other AND films.year = $other_year
""",
        cases=(
            Case(
                "Which members of the board reviewed both Cat Ballou (1965) and True Grit (1969)? List their member "
                "numbers.",
                one="Cat Ballou",
                one_year=1965,
                other="True Grit",
                other_year=1969,
            ),
            Case(
                "I want to invite people who know two films well: give the membership numbers of everyone with a "
                "review of The Asphalt Jungle from 1950 as well as one of Double Indemnity from 1944.",
                one="The Asphalt Jungle",
                one_year=1950,
                other="Double Indemnity",
                other_year=1944,
            ),
        ),
    ),
    Recipe(
        id="most-reviewed-of-tag",
        services=("movies",),
        split="long",
        type="text",
        program="""
tag = next(tag["tag_id"] for tag in list_tags() if tag["name"] == $tag)
totals = {}
for entry in list_entries_with_tag(tag_id=tag, year=$year, page_size=200)["entries"]:
    totals[entry["board_id"]] = list_entry_reviews(board_id=entry["board_id"], page_size=1)["total"]
most = get_board_entry(board_id=max(totals, key=totals.get))
print(get_film(film_id=most["film_id"])["title"])
""",
        query="""
SELECT films.title FROM movies.board_tags bt JOIN movies.tags USING (tag_id) JOIN movies.board b USING (board_id)
JOIN movies.films USING (film_id) JOIN movies.reviews USING (board_id)
WHERE tags.name = $tag AND b.year = $year GROUP BY board_id ORDER BY count(*) DESC LIMIT 1
""",
        cases=(
            Case(
                "Which 1950 film tagged Film-Noir on the review board has been reviewed most often?",
                tag="Film-Noir",
                year=1950,
            ),
            Case(
                "Members tag films. Out of all entries from 1964 filed under Musical, name the one that has gathered "
                "the most reviews.",
                tag="Musical",
                year=1964,
            ),
            Case(
                "For a war-film evening: what is the title of the 1957 picture with the tag War and the largest number "
                "of member reviews?",
                tag="War",
                year=1957,
            ),
        ),
    ),
    Recipe(
        id="best-score-of-tag",
        services=("movies",),
        split="long",
        type="text",
        program="""
tag = next(tag["tag_id"] for tag in list_tags() if tag["name"] == $tag)
best = None
for entry in list_entries_with_tag(tag_id=tag, year=$year, page_size=200)["entries"]:
    film = get_board_entry(board_id=entry["board_id"])["film_id"]
    score = get_film_score(film_id=film)["mean_score"]
    if score is not None and (best is None or score > best[0]):
        best = score, film
print(get_film(film_id=best[1])["title"])
""",
        query="""
SELECT films.title FROM movies.board_tags bt JOIN movies.tags USING (tag_id) JOIN movies.board b USING (board_id)
JOIN movies.films USING (film_id) WHERE tags.name = $tag AND b.year = $year ORDER BY mean_score DESC LIMIT 1
""",
        cases=(
            Case(
                "Of the board's Film-Noir entries from 1955, which film does the public score highest?",
                tag="Film-Noir",
                year=1955,
            ),
            Case(
                "I'd like the War film of 1998 with the best mean score from the public, going by the review board's "
                "tags. Which is it?",
                tag="War",
                year=1998,
            ),
        ),
    ),
)
