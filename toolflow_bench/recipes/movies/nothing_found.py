"""Recipes whose answer may be that there is none, each beside its twin that has an answer."""

# Queries are put together from our own names only.
# ruff: noqa: S608

from __future__ import annotations

from toolflow_bench.recipes.movies.parts import SEEN, WON
from toolflow_bench.recipes.recipe import Case, Recipe

_YOUNG = """
place = next(place["place_id"] for place in list_birthplaces() if place["name"] == $place)
awards = []
for person in list_people_born_in(place_id=place):
    for award in list_person_awards(person_id=person):
        awards.append(get_award(award_id=award))
youngest = min(awards, key=lambda award: award["age_years"])
print(get_person(person_id=youngest["person_id"])["name"] if youngest["age_years"] <= $age else "not found")
"""
_YOUNG_QUERY = f"""
SELECT people.name FROM {WON} WHERE places.name = $place AND age_years <= $age ORDER BY age_years LIMIT 1
"""
_HARSH = """
film = next(film["film_id"] for film in search_films(title=$title) if film["title"] == $title)
entry = get_film_links(film_id=film)["board_id"]
reviews = list_entry_reviews(board_id=entry, from_date=$first, to_date=$last, page_size=150)["reviews"]
harshest = min((get_review(review_id=review["review_id"]) for review in reviews), key=lambda review: review["stars"])
if harshest["stars"] <= $stars:
    print(get_reviewer(reviewer_id=harshest["reviewer_id"])["member_number"])
else:
    print("not found")
"""
_HARSH_QUERY = f"""
SELECT member_number FROM {SEEN} WHERE films.title = $title
AND written_on BETWEEN $first AND $last AND stars <= $stars ORDER BY stars LIMIT 1
"""
_BRIEF = """
reviewer = find_reviewer(member_number=$member)
reviews = list_reviewer_reviews(reviewer_id=reviewer, from_date=$day, to_date=$day, page_size=150)["reviews"]
films = [get_film(film_id=get_board_entry(board_id=review["board_id"])["film_id"]) for review in reviews]
shortest = min(films, key=lambda film: film["runtime_minutes"])
print(shortest["title"] if shortest["runtime_minutes"] <= $minutes else "not found")
"""
_BRIEF_QUERY = f"""
SELECT films.title FROM {SEEN} WHERE member_number = $member AND written_on = $day AND runtime_minutes <= $minutes
ORDER BY runtime_minutes LIMIT 1
"""
_SMALL = """
releases = []
for listed in list_box_office(page_size=150)["releases"]:
    if $first <= listed["released_on"] <= $last:
        releases.append(get_box_office(box_office_id=listed["box_office_id"]))
smallest = min(releases, key=lambda release: release["opening_weekend_usd"])
print(get_film(film_id=smallest["film_id"])["title"] if smallest["opening_weekend_usd"] <= $most else "not found")
"""
_SMALL_QUERY = """
SELECT title FROM movies.box_office JOIN movies.films USING (film_id)
WHERE released_on BETWEEN $first AND $last AND opening_weekend_usd <= $most ORDER BY opening_weekend_usd LIMIT 1
"""

NOTHING_FOUND = (
    Recipe(
        id="young-winner",
        services=("movies",),
        split="long",
        type="text",
        program=_YOUNG,
        query=_YOUNG_QUERY,
        cases=(
            Case(
                "Did anybody born in Texas win a leading-role Oscar at the age of 32 or less? Name the youngest such "
                "winner, or say none.",
                place="Texas",
                age=32,
            ),
            Case(
                "Was there a best actor or best actress from New Jersey who was at most 35 at the ceremony? If so give "
                "the name (the youngest at winning if there are several); otherwise answer none.",
                place="New Jersey",
                age=35,
            ),
        ),
    ),
    Recipe(
        id="young-winner-none",
        services=("movies",),
        split="long",
        type="none",
        program=_YOUNG,
        query=_YOUNG_QUERY,
        cases=(
            Case(
                "Among lead-acting Oscar winners with Massachusetts as their birthplace, who was the youngest to win "
                "aged 25 or under? Reply none if no one was.",
                place="Massachusetts",
                age=25,
            ),
            Case(
                "Which Ohio native took a leading-role Academy Award no older than 30? Tell me the youngest, or none.",
                place="Ohio",
                age=30,
            ),
        ),
    ),
    Recipe(
        id="harsh-reviewer",
        services=("movies",),
        split="long",
        type="number",
        program=_HARSH,
        query=_HARSH_QUERY,
        cases=(
            Case(
                "Who was harshest about Fight Club (1999) on the review board between 2008-01-01 and 2008-12-31? Give "
                "the member number behind the review with the fewest stars, provided it has 2 stars at most; else say "
                "none.",
                title="Fight Club",
                first="2008-01-01",
                last="2008-12-31",
                stars=2,
            ),
            Case(
                "Someone may have disliked The Matrix (1999). Looking at reviews from 2013-01-01 to 2014-12-31, which "
                "member number left the lowest rating, if that is 2 stars or lower? Say none if it isn't.",
                title="The Matrix",
                first="2013-01-01",
                last="2014-12-31",
                stars=2,
            ),
        ),
    ),
    Recipe(
        id="harsh-reviewer-none",
        services=("movies",),
        split="long",
        type="none",
        program=_HARSH,
        query=_HARSH_QUERY,
        cases=(
            Case(
                "I look for a sceptic: the member with the lowest-starred review of The Godfather (1972) written in "
                "2010-01-01 to 2010-12-31, as long as it gave no more than 2 stars. What member number, or none?",
                title="The Godfather",
                first="2010-01-01",
                last="2010-12-31",
                stars=2,
            ),
            Case(
                "In reviews dated 2003-01-01 through 2003-12-31, did The Shawshank Redemption (1994) ever get 3 stars "
                "or fewer? State the membership number of the least generous writer, or none.",
                title="The Shawshank Redemption",
                first="2003-01-01",
                last="2003-12-31",
                stars=3,
            ),
        ),
    ),
    Recipe(
        id="brief-film",
        services=("movies",),
        split="long",
        type="text",
        program=_BRIEF,
        query=_BRIEF_QUERY,
        cases=(
            Case(
                "Member 33 reviewed a few films on 2002-10-18. Is any of them 85 minutes long or shorter? Give the "
                "title of the shortest one that is, else none.",
                member=33,
                day="2002-10-18",
                minutes=85,
            ),
            Case(
                "For a short slot I need a film of at most 94 minutes that reviewer number 105 wrote about on "
                "2004-11-16; the shortest if several. Its title, or none if there isn't one?",
                member=105,
                day="2004-11-16",
                minutes=94,
            ),
        ),
    ),
    Recipe(
        id="brief-film-none",
        services=("movies",),
        split="long",
        type="none",
        program=_BRIEF,
        query=_BRIEF_QUERY,
        cases=(
            Case(
                "From what member number 30 reviewed on 1999-12-25, pick the shortest film that doesn't exceed 90 "
                "minutes. What is it called? Write none where everything is longer.",
                member=30,
                day="1999-12-25",
                minutes=90,
            ),
            Case(
                "Which movie lasting 100 minutes or less, the shortest of them, was reviewed by board member no. 99 on "
                "2003-02-09? If that gives nothing, answer none.",
                member=99,
                day="2003-02-09",
                minutes=100,
            ),
        ),
    ),
    Recipe(
        id="small-opening",
        services=("movies",),
        split="long",
        type="text",
        program=_SMALL,
        query=_SMALL_QUERY,
        cases=(
            Case(
                "Among Marvel films released from 2010-01-01 to 2013-12-31, did one open with 65.5 million dollars or "
                "less in the USA? Name the film with the smallest opening weekend, or say none.",
                first="2010-01-01",
                last="2013-12-31",
                most=65500000,
            ),
            Case(
                "Which Marvel release dated 2013-01-01 through 2016-12-31 had the weakest US opening weekend, provided "
                "it was no more than $60 million? If all took more, answer none.",
                first="2013-01-01",
                last="2016-12-31",
                most=60000000,
            ),
        ),
    ),
    Recipe(
        id="small-opening-none",
        services=("movies",),
        split="long",
        type="none",
        program=_SMALL,
        query=_SMALL_QUERY,
        cases=(
            Case(
                "I am after a Marvel flop: the film with the lowest takings on its first US weekend, at most $75 "
                "million, of those out between 2016-01-01 and 2019-12-31. Its title, or none?",
                first="2016-01-01",
                last="2019-12-31",
                most=75000000,
            ),
            Case(
                "From 2010-01-01 until 2014-12-31, was there any Marvel picture whose opening weekend in America "
                "stayed at or below 60 million dollars? Give the smallest opener's name; none if there wasn't.",
                first="2010-01-01",
                last="2014-12-31",
                most=60000000,
            ),
        ),
    ),
)
