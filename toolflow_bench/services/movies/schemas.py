"""Response schemas of the movies service: closed, every field described with its unit."""

from __future__ import annotations

from typing import Any

from protocols.jsontypes import JsonObject
from toolflow_bench.services.shapes import INTEGER, closed, field, list_of, page_of, ref


def _id(prefix: str, noun: str) -> JsonObject:
    return {"type": "string", "title": noun, "pattern": f"^{prefix}_[a-z2-7]{{5}}$"}


FILM_ID = _id("fm", "a film id")
GENRE_ID = _id("gn", "a genre id")
CERTIFICATE_ID = _id("ct", "a certificate id")
BOARD_ID = _id("be", "a board entry id")
TAG_ID = _id("tg", "a tag id")
REVIEW_ID = _id("rv", "a review id")
REVIEWER_ID = _id("us", "a reviewer id")
AWARD_ID = _id("aw", "an award id")
PERSON_ID = _id("pp", "a person id")
PLACE_ID = _id("pl", "a place id")
BOX_OFFICE_ID = _id("bo", "a release id")
DATE: JsonObject = {
    "type": "string",
    "title": "a date",
    "format": "date",
    "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
    "examples": ["2004-11-30"],
}
PRIORITY: JsonObject = {"type": "string", "enum": ["low", "normal", "high"]}
PRINT_FORMAT: JsonObject = {"type": "string", "enum": ["35mm", "70mm", "dcp"]}
REASON: JsonObject = {"type": "string", "enum": ["spam", "offensive", "off_topic", "wrong_film"]}
STRING: JsonObject = {"type": "string"}
NUMBER: JsonObject = {"type": "number"}


_film_id = field(FILM_ID, "Id of the film, as get_film takes it.")
_title = field(STRING, "Title of the film, article first.")
_year = field(INTEGER, "Year of release.")
_runtime = field(INTEGER, "Length in minutes.")
_genre_id = field(GENRE_ID, "Id of the genre.")
_certificate_id = field(CERTIFICATE_ID, "Id of the certificate.")
_board_id = field(BOARD_ID, "Id of the entry on the review board.")
_tag_id = field(TAG_ID, "Id of the tag.")
_review_id = field(REVIEW_ID, "Id of the review.")
_reviewer_id = field(REVIEWER_ID, "Id of the reviewer.")
_award_id = field(AWARD_ID, "Id of the award.")
_category = field(
    {"type": "string", "enum": ["actor", "actress"]}, "What it is for: best actor or best actress in a leading role."
)
_person_id = field(PERSON_ID, "Id of the person.")
_name = field(STRING, "Name of the person.")
_place_id = field(PLACE_ID, "Id of the place of birth: a state of the USA, or a country or part of one.")
_box_office_id = field(BOX_OFFICE_ID, "Id of the release.")
_released = field(DATE, "Date of release in the USA, YYYY-MM-DD.")
_dollars = "in US dollars of the time, as reported"
_own_stars = field(INTEGER, "Stars, 1 (worst) to 5 (best).")

_UNTITLED: dict[str, dict[str, Any]] = {
    "FoundFilm": closed("A film that was found.", film_id=_film_id, title=_title, year=_year),
    "FilmTitle": closed("A film of the year.", film_id=_film_id, title=_title),
    "FilmId": closed("A film.", film_id=_film_id),
    "FilmRuntime": closed("A film and its length.", film_id=_film_id, runtime_minutes=_runtime),
    "Film": closed(
        "The record of one film.",
        film_id=_film_id,
        title=_title,
        year=_year,
        runtime_minutes=field(INTEGER, "Length in minutes; null where unknown.", nullable=True),
        certificate_id=field(
            CERTIFICATE_ID, "Id of its certificate; null where it has none or none is known.", nullable=True
        ),
    ),
    "FilmBudget": closed(
        "What a film cost to make.",
        film_id=_film_id,
        budget_usd=field(INTEGER, f"Budget {_dollars}; null where unknown.", nullable=True),
    ),
    "FilmScore": closed(
        "How the public scored a film.",
        film_id=_film_id,
        mean_score=field(NUMBER, "Mean score, 1 to 10, to one decimal; null without votes.", nullable=True),
        votes=field(INTEGER, "How many votes it had; null where none were counted.", nullable=True),
    ),
    "ScoreBar": closed(
        "One score's share of the votes.",
        score=field(INTEGER, "The score, 1 to 10."),
        share_percent=field(NUMBER, "Share of the votes in percent, to the nearest of 0, 4.5, 14.5, 24.5 … 94.5, 100."),
    ),
    "FilmLinks": closed(
        "Where else a film has a record.",
        film_id=_film_id,
        board_id=field(BOARD_ID, "Id of its entry on the review board; null where it has none.", nullable=True),
        box_office_id=field(BOX_OFFICE_ID, "Id of its box-office record; null where it has none.", nullable=True),
    ),
    "Genre": closed("One genre.", genre_id=_genre_id, name=field(STRING, "Name of the genre.")),
    "Certificate": closed(
        "One certificate.",
        certificate_id=_certificate_id,
        code=field({"type": "string", "enum": ["NC-17", "PG", "PG-13", "R"]}, "Code of the MPAA rating."),
    ),
    "BoardEntry": closed(
        "A film's entry on the review board.",
        board_id=_board_id,
        film_id=_film_id,
        tag_ids={"type": "array", "description": "Ids of its tags, in no particular order.", "items": _tag_id},
    ),
    "TaggedEntry": closed("An entry with the tag.", board_id=_board_id, year=_year),
    "Tag": closed("One tag.", tag_id=_tag_id, name=field(STRING, "Name of the tag, such as 'Film-Noir'.")),
    "EntryReview": closed("A review of the entry.", review_id=_review_id, reviewer_id=_reviewer_id),
    "ReviewerReview": closed("A review by the reviewer.", review_id=_review_id, board_id=_board_id),
    "Review": closed(
        "One review.",
        review_id=_review_id,
        board_id=_board_id,
        reviewer_id=_reviewer_id,
        stars=field(NUMBER, "Stars, 0.5 (worst) to 5 (best) in halves."),
        written_at=field(STRING, "When it was written, UTC, YYYY-MM-DDTHH:MM:SSZ."),
    ),
    "FoundReviewer": closed("The reviewer that was found.", reviewer_id=_reviewer_id),
    "Reviewer": closed(
        "One reviewer.",
        reviewer_id=_reviewer_id,
        member_number=field(INTEGER, "Number of the membership."),
        first_review_on=field(DATE, "Date (UTC) of the first review, YYYY-MM-DD."),
    ),
    "AwardCategory": closed("An award of the year.", award_id=_award_id, category=_category),
    "Award": closed(
        "One Academy Award.",
        award_id=_award_id,
        ceremony_year=field(INTEGER, "Year that the ceremony is counted under."),
        category=_category,
        person_id=_person_id,
        film_id=field(FILM_ID, "Id of the film that it was won with."),
        age_years=field(INTEGER, "Age of the winner at the ceremony, in years."),
    ),
    "FoundPerson": closed("A person that was found.", person_id=_person_id, name=_name),
    "Person": closed(
        "One person.",
        person_id=_person_id,
        name=_name,
        born_on=field(DATE, "Date of birth, YYYY-MM-DD."),
        place_id=_place_id,
    ),
    "Place": closed("A place of birth.", place_id=_place_id, name=field(STRING, "Name of the place.")),
    "ReleaseDate": closed("A release.", box_office_id=_box_office_id, released_on=_released),
    "BoxOffice": closed(
        "What a film took in cinemas.",
        box_office_id=_box_office_id,
        film_id=_film_id,
        released_on=_released,
        opening_weekend_usd=field(INTEGER, f"Takings of the opening weekend in the USA, {_dollars}."),
        domestic_gross_usd=field(INTEGER, f"Takings in the USA in all, {_dollars}."),
        worldwide_gross_usd=field(INTEGER, f"Takings worldwide in all, the USA included, {_dollars}."),
    ),
    "WatchlistItem": closed(
        "A film to be watched.",
        item_id=field(_id("wl", ""), "Id of the item."),
        film_id=_film_id,
        priority=field(PRIORITY, "How soon it is to be watched."),
    ),
    "OwnRating": closed(
        "A rating of one's own.",
        rating_id=field(_id("rt", ""), "Id of the rating."),
        film_id=_film_id,
        stars=_own_stars,
    ),
    "Screening": closed(
        "A screening of the festival.",
        screening_id=field(_id("sc", ""), "Id of the screening."),
        film_id=_film_id,
        hall=field(STRING, "Hall that the film is shown in: red, blue or garden."),
        date=field(DATE, "Date, YYYY-MM-DD."),
        start_time=field(STRING, "When it begins, local time HH:MM."),
    ),
    "PrintOrder": closed(
        "An order of prints.",
        order_id=field(_id("po", ""), "Id of the order."),
        film_id=_film_id,
        format=field(PRINT_FORMAT, "Kind of print; dcp is the digital one."),
        copies=field(INTEGER, "How many copies."),
    ),
    "Recommendation": closed(
        "A recommendation that was sent.",
        message_id=field(_id("ms", ""), "Id of the message."),
        film_id=_film_id,
        reviewer_id=_reviewer_id,
    ),
    "Report": closed(
        "A report that was filed.",
        report_id=field(_id("rp", ""), "Id of the report."),
        review_id=_review_id,
        reason=field(REASON, "What is wrong with the review."),
    ),
    "FoundFilms": list_of("films", ref("FoundFilm"), "Films, best match first."),
    "YearPage": page_of("films", "FilmTitle", "Films by title."),
    "GenrePage": page_of("films", "FilmId", "Films by year."),
    "RuntimePage": page_of("films", "FilmRuntime", "Films, shortest first."),
    "Histogram": list_of("bars", ref("ScoreBar"), "Ten scores, 1 to 10."),
    "GenreIds": list_of("genre_ids", _genre_id, "Ids of genres, in no particular order."),
    "Genres": list_of("genres", ref("Genre"), "Genres by name."),
    "Tags": list_of("tags", ref("Tag"), "Tags by name."),
    "TaggedPage": page_of("entries", "TaggedEntry", "Board entries by year."),
    "EntryReviewPage": page_of("reviews", "EntryReview", "Reviews, oldest first."),
    "ReviewerReviewPage": page_of("reviews", "ReviewerReview", "Reviews, oldest first."),
    "Awards": list_of("awards", ref("AwardCategory"), "Awards by category."),
    "AwardIds": list_of("award_ids", _award_id, "Ids of awards, oldest first."),
    "FoundPeople": list_of("people", ref("FoundPerson"), "People by name."),
    "PersonIds": list_of("person_ids", _person_id, "Ids of people, in no particular order."),
    "Places": list_of("places", ref("Place"), "Places of birth by name."),
    "ReleasePage": page_of("releases", "ReleaseDate", "Releases, oldest first."),
    "Watchlist": list_of("items", ref("WatchlistItem"), "Films to be watched, in the order they were added."),
    "OwnRatings": list_of("ratings", ref("OwnRating"), "Ratings of one's own, in the order they were first given."),
    "Screenings": list_of("screenings", ref("Screening"), "Screenings by date, start and hall."),
}
SCHEMAS: dict[str, JsonObject] = {name: {"title": name, **schema} for name, schema in _UNTITLED.items()}
"""By component name, which is their title too."""
