"""Recipes that find things and then write."""

# Queries are put together from our own names only.
# ruff: noqa: S608

from __future__ import annotations

from toolflow_bench.recipes.movies.parts import FIND, SEEN, WON
from toolflow_bench.recipes.recipe import Case, Recipe


def _left(collection: str, select: str) -> str:
    """A query for the state: the rows of `select`, one column of JSON objects each, are in `collection`."""
    return f"""
WITH written(record) AS ({select})
SELECT json_object('movies', json_object('{collection}', json_group_array(json(record)))) FROM written
"""


WRITING = (
    Recipe(
        id="watch-better-winner",
        services=("movies",),
        split="long",
        type="state",
        program="""
person = next(found["person_id"] for found in search_people(name=$name) if found["name"] == $name)
scores = {}
for award in list_person_awards(person_id=person):
    film = get_award(award_id=award)["film_id"]
    scores[film] = get_film_score(film_id=film)["mean_score"]
add_to_watchlist(film_id=max(scores, key=scores.get), priority=$priority)
print("done")
""",
        query=_left(
            "watchlist",
            f"""
SELECT json_object('film_id', film_id, 'priority', $priority) FROM {WON}
WHERE people.name = $name ORDER BY mean_score DESC LIMIT 1
""",
        ),
        cases=(
            Case(
                "Put the film that Jodie Foster won an Oscar with and that the public scores higher of her winning "
                "ones on my watchlist with high priority.",
                name="Jodie Foster",
                priority="high",
            ),
            Case(
                "Please add to my list of films to watch, at low priority, whichever of Hilary Swank's award-winning "
                "pictures has the best public score.",
                name="Hilary Swank",
                priority="low",
            ),
            Case(
                "Tom Hanks got best actor more than once. I want the winning title with the top mean score on the "
                "watchlist, priority normal.",
                name="Tom Hanks",
                priority="normal",
            ),
        ),
    ),
    Recipe(
        id="rate-by-gross",
        services=("movies",),
        split="long",
        type="state",
        program="""
for listed in list_box_office(year=$year, page_size=200)["releases"]:
    release = get_box_office(box_office_id=listed["box_office_id"])
    hit = release["worldwide_gross_usd"] > $bar
    rate_film(film_id=release["film_id"], stars=$good if hit else $bad)
print("done")
""",
        query=_left(
            "ratings",
            """
SELECT json_object('film_id', film_id, 'stars', CASE WHEN worldwide_gross_usd > $bar THEN $good ELSE $bad END)
FROM movies.box_office WHERE released_on LIKE $year || '-%'
""",
        ),
        cases=(
            Case(
                "Rate the Marvel films released in 2018 for me: 5 stars for those that took more than 1.5 billion "
                "dollars worldwide and 3 stars for the others.",
                year=2018,
                bar=1500000000,
                good=5,
                bad=3,
            ),
            Case(
                "I go by money. Every 2017 Marvel release gets a rating of mine: 4 stars if its worldwide gross is "
                "above $860 million, otherwise 2.",
                year=2017,
                bar=860000000,
                good=4,
                bad=2,
            ),
            Case(
                "Give my own 4 stars to whatever Marvel put out in 2019 and grossed over 1,130 million dollars around "
                "the world; the rest of that year's get 1 star.",
                year=2019,
                bar=1130000000,
                good=4,
                bad=1,
            ),
        ),
    ),
    Recipe(
        id="schedule-shortest",
        services=("movies",),
        split="long",
        type="state",
        program="""
from datetime import date, timedelta

place = next(place["place_id"] for place in list_birthplaces() if place["name"] == $place)
lengths = {}
for person in list_people_born_in(place_id=place):
    for award in list_person_awards(person_id=person):
        film = get_film(film_id=get_award(award_id=award)["film_id"])
        if film["runtime_minutes"] is not None:
            lengths[film["film_id"]] = film["runtime_minutes"]
day = date.fromisoformat($day)
while any(
    (planned["hall"], planned["start_time"]) == ($hall, $start)
    for planned in list_screenings(date=day.isoformat())
):
    day += timedelta(days=1)
schedule_screening(film_id=min(lengths, key=lengths.get), hall=$hall, date=day.isoformat(), start_time=$start)
print("done")
""",
        query=f"""
WITH RECURSIVE days(day) AS (SELECT $day UNION ALL SELECT date(day, '+1 day') FROM days WHERE day < '2027-06-13'),
free AS (SELECT min(day) AS day FROM days WHERE NOT EXISTS (
    SELECT 1 FROM movies.screenings WHERE date = day AND hall = $hall AND start_time = $start)),
shortest AS (
    SELECT film_id FROM {WON} WHERE places.name = $place AND runtime_minutes IS NOT NULL
    ORDER BY runtime_minutes LIMIT 1)
SELECT json_object('movies', json_object('screenings', json_array(
    json_object('film_id', film_id, 'hall', $hall, 'date', day, 'start_time', $start)))) FROM shortest, free
""",
        cases=(
            Case(
                "We honour Texas at the festival. Take the shortest film (of known length) that won a Texas-born "
                "performer a leading-role Oscar and schedule it in the red hall at 20:00, on the first day from "
                "2027-06-06 when that slot is free.",
                place="Texas",
                hall="red",
                start="20:00",
                day="2027-06-06",
            ),
            Case(
                "Plan a screening in the blue hall starting 17:00: of the pictures behind the lead-acting Oscars of "
                "people born in Nebraska, the one with the fewest minutes. Use 2027-06-05 if the hall is free then, "
                "else the next free day.",
                place="Nebraska",
                hall="blue",
                start="17:00",
                day="2027-06-05",
            ),
        ),
    ),
    Recipe(
        id="order-programme",
        services=("movies",),
        split="long",
        type="state",
        program="""
for screening in list_screenings():
    film = get_film(film_id=screening["film_id"])
    old = film["year"] < $year
    awarded = list_film_awards(film_id=film["film_id"])
    order_print(film_id=film["film_id"], format=$old_format if old else $new_format, copies=2 if awarded else 1)
print("done")
""",
        query=_left(
            "print_orders",
            """
SELECT json_object('film_id', film_id, 'format', CASE WHEN year < $year THEN $old_format ELSE $new_format END,
    'copies', CASE WHEN film_id IN (SELECT film_id FROM movies.awards) THEN 2 ELSE 1 END)
FROM movies.screenings JOIN movies.films USING (film_id)
""",
        ),
        cases=(
            Case(
                "Order prints of every film in our festival programme: 35mm for films from before 1971, dcp for the "
                "newer ones. Two copies where somebody won a leading-role Oscar with the film, one copy otherwise.",
                year=1971,
                old_format="35mm",
                new_format="dcp",
            ),
            Case(
                "All scheduled festival films need copies. Whatever was released earlier than 1962 comes on 70mm and "
                "the rest on 35mm; get 2 of those that brought a best actor or actress award, a single one of the "
                "others.",
                year=1962,
                old_format="70mm",
                new_format="35mm",
            ),
        ),
    ),
    Recipe(
        id="recommend-to-fans",
        services=("movies",),
        split="long",
        type="state",
        program=FIND
        + """
entry = get_film_links(film_id=find($liked, $liked_year))["board_id"]
recommended = find($title, $year)
for listed in list_entry_reviews(board_id=entry, from_date=$first, to_date=$last, page_size=200)["reviews"]:
    if get_review(review_id=listed["review_id"])["stars"] >= $stars:
        send_recommendation(film_id=recommended, reviewer_id=listed["reviewer_id"])
print("done")
""",
        query=_left(
            "recommendations",
            f"""
SELECT json_object('film_id', (SELECT film_id FROM movies.films WHERE title = $title AND year = $year),
    'reviewer_id', reviewer_id)
FROM {SEEN} WHERE films.title = $liked AND films.year = $liked_year
AND written_on BETWEEN $first AND $last AND stars >= $stars
""",
        ),
        cases=(
            Case(
                "Recommend Chinatown (1974) to every board member who gave The Godfather (1972) at least 5 stars in a "
                "review written from 2011-01-01 to 2011-12-31.",
                liked="The Godfather",
                liked_year=1972,
                first="2011-01-01",
                last="2011-12-31",
                stars=5,
                title="Chinatown",
                year=1974,
            ),
            Case(
                "Whoever rated Star Wars (1977) 4.5 stars or better between 2009-01-01 and 2009-12-31 might enjoy "
                "Metropolis (1927). Send each of these reviewers a recommendation for it.",
                liked="Star Wars",
                liked_year=1977,
                first="2009-01-01",
                last="2009-12-31",
                stars=4.5,
                title="Metropolis",
                year=1927,
            ),
            Case(
                "Fans of The Usual Suspects (1995), meaning writers of reviews dated 2008-01-01 through 2008-12-31 "
                "with no fewer than 5 stars, should be told about The Third Man (1949).",
                liked="The Usual Suspects",
                liked_year=1995,
                first="2008-01-01",
                last="2008-12-31",
                stars=5,
                title="The Third Man",
                year=1949,
            ),
        ),
    ),
    Recipe(
        id="report-low-reviews",
        services=("movies",),
        split="long",
        type="state",
        program="""
reviewer = find_reviewer(member_number=$member)
reviews = list_reviewer_reviews(reviewer_id=reviewer, from_date=$day, to_date=$day, page_size=200)["reviews"]
for listed in reviews:
    review = get_review(review_id=listed["review_id"])
    if review["stars"] <= $stars:
        report_review(review_id=review["review_id"], reason=$reason)
print("done")
""",
        query=_left(
            "reports",
            f"""
SELECT json_object('review_id', review_id, 'reason', $reason) FROM {SEEN}
WHERE member_number = $member AND written_on = $day AND stars <= $stars
""",
        ),
        cases=(
            Case(
                "Member 15 of the review board posted junk on 2002-12-07. Report each of that day's reviews with 1 "
                "star or less as spam.",
                member=15,
                day="2002-12-07",
                stars=1,
                reason="spam",
            ),
            Case(
                "File reports with the moderators, reason off_topic, on all reviews from 1999-12-24 by reviewer number "
                "119 that give at most 1 star.",
                member=119,
                day="1999-12-24",
                stars=1,
                reason="off_topic",
            ),
            Case(
                "The reviews by no. 141 dated 2001-01-13 that have two stars or fewer seem to be about the wrong film. "
                "Please report them for that reason (wrong_film).",
                member=141,
                day="2001-01-13",
                stars=2,
                reason="wrong_film",
            ),
        ),
    ),
)
