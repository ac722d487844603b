"""Parameters of the movies service. One thing has one name in every operation, so that values and links line up."""

from __future__ import annotations

from typing import Any

from protocols.jsontypes import Json
from toolflow_bench.services.movies import schemas as schemas
from toolflow_bench.services.movies.desk import FIRST_DAY, HALLS, LAST_DAY, STARTS
from toolflow_bench.services.operation import Parameter


def _whole(minimum: int, maximum: int, *, default: Json = None) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "integer", "minimum": minimum, "maximum": maximum}
    return schema if default is None else {**schema, "default": default}


def _optional(name: str, schema: Any, description: str) -> Parameter:
    return Parameter(name=name, schema=schema, description=description, required=False)


_TEXT = {"type": "string", "minLength": 1, "maxLength": 120}
_YEAR = _whole(1890, 2030)

TITLE = Parameter(
    name="title", schema=_TEXT, description="Title or words of it; any case, accents and punctuation do not matter."
)
NAME = Parameter(name="name", schema=_TEXT, description="Name or whole words of it; any case.")
LIMIT = _optional("limit", _whole(1, 50, default=10), "The most results to give.")
FROM_YEAR = _optional("from_year", {**_YEAR, "default": 1890}, "Only films of this year or later.")
TO_YEAR = _optional("to_year", {**_YEAR, "default": 2030}, "Only films of this year or earlier.")
YEAR = Parameter(name="year", schema=_YEAR, description="Year of the films' release, 1893 to 2019.")
YEAR_FILTER = _optional("year", _YEAR, "Only those of this year of release.")
CEREMONY_YEAR = Parameter(
    name="ceremony_year",
    schema=_whole(1929, 2019),
    description="Year that the ceremony is counted under, usually the one after the films' release.",
)
FILM = Parameter(name="film_id", schema=schemas.FILM_ID, description="Id of the film, as search_films gives it.")
GENRE = Parameter(name="genre_id", schema=schemas.GENRE_ID, description="Id of the genre, as list_genres gives it.")
CERTIFICATE = Parameter(
    name="certificate_id", schema=schemas.CERTIFICATE_ID, description="Id of the certificate, as get_film gives it."
)
ENTRY = Parameter(
    name="board_id", schema=schemas.BOARD_ID, description="Id of the board entry, as get_film_links gives it."
)
TAG = Parameter(name="tag_id", schema=schemas.TAG_ID, description="Id of the tag, as list_tags gives it.")
REVIEW = Parameter(
    name="review_id",
    schema=schemas.REVIEW_ID,
    description="Id of the review, as list_entry_reviews or list_reviewer_reviews gives it.",
)
REVIEWER = Parameter(
    name="reviewer_id",
    schema=schemas.REVIEWER_ID,
    description="Id of the reviewer, as find_reviewer or list_entry_reviews gives it.",
)
MEMBER = Parameter(name="member_number", schema=_whole(1, 99999), description="Number of the reviewer's membership.")
FROM_DATE = _optional("from_date", schemas.DATE, "Only reviews written on this date (UTC) or later, YYYY-MM-DD.")
TO_DATE = _optional("to_date", schemas.DATE, "Only reviews written on this date (UTC) or earlier, YYYY-MM-DD.")
AWARD = Parameter(
    name="award_id", schema=schemas.AWARD_ID, description="Id of the award, as list_ceremony_awards gives it."
)
PERSON = Parameter(
    name="person_id", schema=schemas.PERSON_ID, description="Id of the person, as search_people gives it."
)
PLACE = Parameter(
    name="place_id", schema=schemas.PLACE_ID, description="Id of the place of birth, as list_birthplaces gives it."
)
RELEASE = Parameter(
    name="box_office_id",
    schema=schemas.BOX_OFFICE_ID,
    description="Id of the release, as list_box_office or get_film_links gives it.",
)
MIN_MINUTES = _optional("min_minutes", _whole(1, 6000, default=1), "Only films of at least this many minutes.")
MAX_MINUTES = _optional("max_minutes", _whole(1, 6000, default=6000), "Only films of at most this many minutes.")
PRIORITY = Parameter(name="priority", schema=schemas.PRIORITY, description="How soon it is to be watched.")
STARS = Parameter(name="stars", schema=_whole(1, 5), description="Stars, 1 (worst) to 5 (best).")
_HALL = {"type": "string", "enum": list(HALLS)}
_START = {"type": "string", "enum": list(STARTS)}
HALL = Parameter(name="hall", schema=_HALL, description="Hall that the film is shown in.")
DAY = Parameter(
    name="date",
    schema=schemas.DATE,
    description=f"Date of the screening, YYYY-MM-DD, from {FIRST_DAY} to {LAST_DAY}.",
)
DAY_FILTER = _optional("date", schemas.DATE, "Only screenings of this date, YYYY-MM-DD.")
START = Parameter(name="start_time", schema=_START, description="When it begins, local time HH:MM.")
FORMAT = Parameter(name="format", schema=schemas.PRINT_FORMAT, description="Kind of print; dcp is the digital one.")
COPIES = Parameter(name="copies", schema=_whole(1, 10), description="How many copies.")
REASON = Parameter(name="reason", schema=schemas.REASON, description="What is wrong with the review.")
PAGING = (
    _optional("page", _whole(1, 100_000, default=1), "Number of the page, from 1."),
    _optional("page_size", _whole(1, 200, default=50), "How many items a page has at most."),
)
