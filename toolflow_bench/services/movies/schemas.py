"""Response schemas of the movies service: closed, every field described with its unit."""

from __future__ import annotations

from typing import Any

from protocols.jsontypes import JsonObject


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
INTEGER: JsonObject = {"type": "integer"}
NUMBER: JsonObject = {"type": "number"}


def _field(schema: JsonObject, description: str, *, nullable: bool = False) -> dict[str, Any]:
    kept = {key: value for key, value in schema.items() if key not in {"title", "examples"}}
    if nullable:
        kept["type"] = [kept["type"], "null"]
    return {**kept, "description": description}


def _closed(description: str, **fields: JsonObject) -> dict[str, Any]:
    return {
        "type": "object",
        "description": description,
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def _list_of(key: str, item: JsonObject, description: str) -> dict[str, Any]:
    return _closed(description, **{key: {"type": "array", "description": description, "items": item}})


def _page_of(key: str, item: str, description: str) -> dict[str, Any]:
    return _closed(
        f"One page: {description}",
        **{
            key: {"type": "array", "description": f"{description} Those of this page.", "items": _ref(item)},
            "page": _field(INTEGER, "Number of this page, from 1."),
            "pages": _field(INTEGER, "How many pages there are, at least 1."),
            "total": _field(INTEGER, "How many items there are on all pages together."),
        },
    )


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


_film_id = _field(FILM_ID, "Id of the film, as get_film takes it.")
_title = _field(STRING, "Title of the film, article first.")
_year = _field(INTEGER, "Year of release.")
_runtime = _field(INTEGER, "Length in minutes.")
_genre_id = _field(GENRE_ID, "Id of the genre.")
_certificate_id = _field(CERTIFICATE_ID, "Id of the certificate.")
_board_id = _field(BOARD_ID, "Id of the entry on the review board.")
_tag_id = _field(TAG_ID, "Id of the tag.")
_review_id = _field(REVIEW_ID, "Id of the review.")
_reviewer_id = _field(REVIEWER_ID, "Id of the reviewer.")
_award_id = _field(AWARD_ID, "Id of the award.")
_category = _field(
    {"type": "string", "enum": ["actor", "actress"]}, "What it is for: best actor or best actress in a leading role."
)
_person_id = _field(PERSON_ID, "Id of the person.")
_name = _field(STRING, "Name of the person.")
_place_id = _field(PLACE_ID, "Id of the place of birth: a state of the USA, or a country or part of one.")
_box_office_id = _field(BOX_OFFICE_ID, "Id of the release.")
_released = _field(DATE, "Date of release in the USA, YYYY-MM-DD.")
_dollars = "in US dollars of the time, as reported"
_own_stars = _field(INTEGER, "Stars, 1 (worst) to 5 (best).")

_UNTITLED: dict[str, dict[str, Any]] = {
    "FoundFilm": _closed("A film that was found.", film_id=_film_id, title=_title, year=_year),
    "FilmTitle": _closed("A film of the year.", film_id=_film_id, title=_title),
    "FilmId": _closed("A film.", film_id=_film_id),
    "FilmRuntime": _closed("A film and its length.", film_id=_film_id, runtime_minutes=_runtime),
    "Film": _closed(
        "The record of one film.",
        film_id=_film_id,
        title=_title,
        year=_year,
        runtime_minutes=_field(INTEGER, "Length in minutes; null where unknown.", nullable=True),
        certificate_id=_field(
            CERTIFICATE_ID, "Id of its certificate; null where it has none or none is known.", nullable=True
        ),
    ),
    "FilmBudget": _closed(
        "What a film cost to make.",
        film_id=_film_id,
        budget_usd=_field(INTEGER, f"Budget {_dollars}; null where unknown.", nullable=True),
    ),
    "FilmScore": _closed(
        "How the public scored a film.",
        film_id=_film_id,
        mean_score=_field(NUMBER, "Mean score, 1 to 10, to one decimal; null without votes.", nullable=True),
        votes=_field(INTEGER, "How many votes it had; null where none were counted.", nullable=True),
    ),
    "ScoreBar": _closed(
        "One score's share of the votes.",
        score=_field(INTEGER, "The score, 1 to 10."),
        share_percent=_field(
            NUMBER, "Share of the votes in percent, to the nearest of 0, 4.5, 14.5, 24.5 … 94.5, 100."
        ),
    ),
    "FilmLinks": _closed(
        "Where else a film has a record.",
        film_id=_film_id,
        board_id=_field(BOARD_ID, "Id of its entry on the review board; null where it has none.", nullable=True),
        box_office_id=_field(BOX_OFFICE_ID, "Id of its box-office record; null where it has none.", nullable=True),
    ),
    "Genre": _closed("One genre.", genre_id=_genre_id, name=_field(STRING, "Name of the genre.")),
    "Certificate": _closed(
        "One certificate.",
        certificate_id=_certificate_id,
        code=_field({"type": "string", "enum": ["NC-17", "PG", "PG-13", "R"]}, "Code of the MPAA rating."),
    ),
    "BoardEntry": _closed(
        "A film's entry on the review board.",
        board_id=_board_id,
        film_id=_film_id,
        tag_ids={"type": "array", "description": "Ids of its tags, in no particular order.", "items": _tag_id},
    ),
    "TaggedEntry": _closed("An entry with the tag.", board_id=_board_id, year=_year),
    "Tag": _closed("One tag.", tag_id=_tag_id, name=_field(STRING, "Name of the tag, such as 'Film-Noir'.")),
    "EntryReview": _closed("A review of the entry.", review_id=_review_id, reviewer_id=_reviewer_id),
    "ReviewerReview": _closed("A review by the reviewer.", review_id=_review_id, board_id=_board_id),
    "Review": _closed(
        "One review.",
        review_id=_review_id,
        board_id=_board_id,
        reviewer_id=_reviewer_id,
        stars=_field(NUMBER, "Stars, 0.5 (worst) to 5 (best) in halves."),
        written_at=_field(STRING, "When it was written, UTC, YYYY-MM-DDTHH:MM:SSZ."),
    ),
    "FoundReviewer": _closed("The reviewer that was found.", reviewer_id=_reviewer_id),
    "Reviewer": _closed(
        "One reviewer.",
        reviewer_id=_reviewer_id,
        member_number=_field(INTEGER, "Number of the membership."),
        first_review_on=_field(DATE, "Date (UTC) of the first review, YYYY-MM-DD."),
    ),
    "AwardCategory": _closed("An award of the year.", award_id=_award_id, category=_category),
    "Award": _closed(
        "One Academy Award.",
        award_id=_award_id,
        ceremony_year=_field(INTEGER, "Year that the ceremony is counted under."),
        category=_category,
        person_id=_person_id,
        film_id=_field(FILM_ID, "Id of the film that it was won with."),
        age_years=_field(INTEGER, "Age of the winner at the ceremony, in years."),
    ),
    "FoundPerson": _closed("A person that was found.", person_id=_person_id, name=_name),
    "Person": _closed(
        "One person.",
        person_id=_person_id,
        name=_name,
        born_on=_field(DATE, "Date of birth, YYYY-MM-DD."),
        place_id=_place_id,
    ),
    "Place": _closed("A place of birth.", place_id=_place_id, name=_field(STRING, "Name of the place.")),
    "ReleaseDate": _closed("A release.", box_office_id=_box_office_id, released_on=_released),
    "BoxOffice": _closed(
        "What a film took in cinemas.",
        box_office_id=_box_office_id,
        film_id=_film_id,
        released_on=_released,
        opening_weekend_usd=_field(INTEGER, f"Takings of the opening weekend in the USA, {_dollars}."),
        domestic_gross_usd=_field(INTEGER, f"Takings in the USA in all, {_dollars}."),
        worldwide_gross_usd=_field(INTEGER, f"Takings worldwide in all, the USA included, {_dollars}."),
    ),
    "WatchlistItem": _closed(
        "A film to be watched.",
        item_id=_field(_id("wl", ""), "Id of the item."),
        film_id=_film_id,
        priority=_field(PRIORITY, "How soon it is to be watched."),
    ),
    "OwnRating": _closed(
        "A rating of one's own.",
        rating_id=_field(_id("rt", ""), "Id of the rating."),
        film_id=_film_id,
        stars=_own_stars,
    ),
    "Screening": _closed(
        "A screening of the festival.",
        screening_id=_field(_id("sc", ""), "Id of the screening."),
        film_id=_film_id,
        hall=_field(STRING, "Hall that the film is shown in: red, blue or garden."),
        date=_field(DATE, "Date, YYYY-MM-DD."),
        start_time=_field(STRING, "When it begins, local time HH:MM."),
    ),
    "PrintOrder": _closed(
        "An order of prints.",
        order_id=_field(_id("po", ""), "Id of the order."),
        film_id=_film_id,
        format=_field(PRINT_FORMAT, "Kind of print; dcp is the digital one."),
        copies=_field(INTEGER, "How many copies."),
    ),
    "Recommendation": _closed(
        "A recommendation that was sent.",
        message_id=_field(_id("ms", ""), "Id of the message."),
        film_id=_film_id,
        reviewer_id=_reviewer_id,
    ),
    "Report": _closed(
        "A report that was filed.",
        report_id=_field(_id("rp", ""), "Id of the report."),
        review_id=_review_id,
        reason=_field(REASON, "What is wrong with the review."),
    ),
    "FoundFilms": _list_of("films", _ref("FoundFilm"), "Films, best match first."),
    "YearPage": _page_of("films", "FilmTitle", "Films by title."),
    "GenrePage": _page_of("films", "FilmId", "Films by year."),
    "RuntimePage": _page_of("films", "FilmRuntime", "Films, shortest first."),
    "Histogram": _list_of("bars", _ref("ScoreBar"), "Ten scores, 1 to 10."),
    "GenreIds": _list_of("genre_ids", _genre_id, "Ids of genres, in no particular order."),
    "Genres": _list_of("genres", _ref("Genre"), "Genres by name."),
    "Tags": _list_of("tags", _ref("Tag"), "Tags by name."),
    "TaggedPage": _page_of("entries", "TaggedEntry", "Board entries by year."),
    "EntryReviewPage": _page_of("reviews", "EntryReview", "Reviews, oldest first."),
    "ReviewerReviewPage": _page_of("reviews", "ReviewerReview", "Reviews, oldest first."),
    "Awards": _list_of("awards", _ref("AwardCategory"), "Awards by category."),
    "AwardIds": _list_of("award_ids", _award_id, "Ids of awards, oldest first."),
    "FoundPeople": _list_of("people", _ref("FoundPerson"), "People by name."),
    "PersonIds": _list_of("person_ids", _person_id, "Ids of people, in no particular order."),
    "Places": _list_of("places", _ref("Place"), "Places of birth by name."),
    "ReleasePage": _page_of("releases", "ReleaseDate", "Releases, oldest first."),
    "Watchlist": _list_of("items", _ref("WatchlistItem"), "Films to be watched, in the order they were added."),
    "OwnRatings": _list_of("ratings", _ref("OwnRating"), "Ratings of one's own, in the order they were first given."),
    "Screenings": _list_of("screenings", _ref("Screening"), "Screenings by date, start and hall."),
}
SCHEMAS: dict[str, JsonObject] = {name: {"title": name, **schema} for name, schema in _UNTITLED.items()}
"""By component name, which is their title too."""
