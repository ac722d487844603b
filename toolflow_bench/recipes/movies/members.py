"""Recipes about what a member of the review board wrote."""

# Queries are put together from our own names only.
# ruff: noqa: S608

from __future__ import annotations

from toolflow_bench.recipes.movies.parts import SEEN
from toolflow_bench.recipes.recipe import Case, Recipe

MEMBERS = (
    Recipe(
        id="favourite-of-the-day",
        services=("movies",),
        split="long",
        type="text",
        program="""
reviewer = find_reviewer(member_number=$member)
listed = list_reviewer_reviews(reviewer_id=reviewer, from_date=$day, to_date=$day, page_size=200)["reviews"]
reviews = [get_review(review_id=review["review_id"]) for review in listed]
best = max(reviews, key=lambda review: review["stars"])
print(get_film(film_id=get_board_entry(board_id=best["board_id"])["film_id"])["title"])
""",
        query=f"""
SELECT films.title FROM {SEEN} WHERE member_number = $member AND written_on = $day ORDER BY stars DESC LIMIT 1
""",
        cases=(
            Case(
                "On 2006-05-21 member number 16 of the review board wrote about several films. Which one got the most "
                "stars?",
                member=16,
                day="2006-05-21",
            ),
            Case(
                "Member 39 had a busy 1996-05-31. What is the title of the film this member rated highest that day?",
                member=39,
                day="1996-05-31",
            ),
            Case(
                "Which movie did reviewer no. 24 like best, judging by stars, out of everything the reviewer posted on "
                "1996-11-30?",
                member=24,
                day="1996-11-30",
            ),
        ),
    ),
    Recipe(
        id="tag-of-the-day",
        services=("movies",),
        split="long",
        type="text",
        program="""
from collections import Counter

names = {tag["tag_id"]: tag["name"] for tag in list_tags()}
reviewer = find_reviewer(member_number=$member)
reviews = list_reviewer_reviews(reviewer_id=reviewer, from_date=$day, to_date=$day, page_size=200)["reviews"]
counts = Counter()
for review in reviews:
    counts.update(names[tag] for tag in get_board_entry(board_id=review["board_id"])["tag_ids"])
print(counts.most_common(1)[0][0])
""",
        query="""
SELECT tags.name FROM movies.reviews JOIN movies.reviewers USING (reviewer_id)
JOIN movies.board_tags USING (board_id) JOIN movies.tags USING (tag_id)
WHERE member_number = $member AND written_on = $day GROUP BY 1 ORDER BY count(*) DESC LIMIT 1
""",
        cases=(
            Case(
                "Which tag of the review board was on the most of the films that member 33 reviewed on 2002-10-18?",
                member=33,
                day="2002-10-18",
            ),
            Case(
                "Look at the titles reviewed by member number 119 on 1998-12-08 and how the board files them. What is "
                "the most frequent tag?",
                member=119,
                day="1998-12-08",
            ),
        ),
    ),
    Recipe(
        id="restricted-films",
        services=("movies",),
        split="long",
        type="number",
        program="""
STRICTNESS = ["PG", "PG-13", "R", "NC-17"]
reviewer = find_reviewer(member_number=$member)
reviews = list_reviewer_reviews(reviewer_id=reviewer, from_date=$first, to_date=$last, page_size=200)["reviews"]
restricted = 0
for review in reviews:
    film = get_film(film_id=get_board_entry(board_id=review["board_id"])["film_id"])
    if film["certificate_id"] is not None:
        code = get_certificate(certificate_id=film["certificate_id"])["code"]
        restricted += STRICTNESS.index(code) >= STRICTNESS.index("R")
print(restricted)
""",
        query=f"""
SELECT count(*) FROM {SEEN} JOIN movies.certificates USING (certificate_id)
WHERE member_number = $member AND written_on BETWEEN $first AND $last AND code IN ('R', 'NC-17')
""",
        cases=(
            Case(
                "How many of the films that member 16 reviewed from 2007-05-05 to 2007-05-05 are rated R or stricter "
                "(NC-17)? Films without a known MPAA rating don't count.",
                member=16,
                first="2007-05-05",
                last="2007-05-05",
            ),
            Case(
                "Count the movies with an MPAA rating of R or NC-17 among those reviewed by board member number 33 "
                "in the period 2002-10-18 through 2002-10-19.",
                member=33,
                first="2002-10-18",
                last="2002-10-19",
            ),
            Case(
                "From 1999-12-25 up to and including 1999-12-26, reviewer no. 30 wrote some reviews. What number of "
                "them are of pictures certified R or NC-17?",
                member=30,
                first="1999-12-25",
                last="1999-12-26",
            ),
        ),
    ),
    Recipe(
        id="most-overrated",
        services=("movies",),
        split="long",
        type="text",
        program="""
reviewer = find_reviewer(member_number=$member)
listed = list_reviewer_reviews(reviewer_id=reviewer, from_date=$day, to_date=$day, page_size=200)["reviews"]
widest = None
for item in listed:
    film = get_board_entry(board_id=item["board_id"])["film_id"]
    score = get_film_score(film_id=film)["mean_score"]
    if score is not None:
        excess = 2 * get_review(review_id=item["review_id"])["stars"] - score
        if widest is None or excess > widest[0]:
            widest = excess, film
print(get_film(film_id=widest[1])["title"])
""",
        query=f"""
SELECT films.title FROM {SEEN} WHERE member_number = $member AND written_on = $day AND mean_score IS NOT NULL
ORDER BY 2 * stars - mean_score DESC LIMIT 1
""",
        cases=(
            Case(
                "Double the stars that member 15 gave on 2002-12-07 and compare with the public's mean score of the "
                "same films. Where is the difference, doubled stars minus score, the largest? Films the public has not "
                "scored are left out.",
                member=15,
                day="2002-12-07",
            ),
            Case(
                "If a star counts as two points of the 10-point scale, on which film was reviewer number 39 kinder "
                "than the public by the widest margin in the reviews of 1996-05-31?",
                member=39,
                day="1996-05-31",
            ),
        ),
    ),
)
