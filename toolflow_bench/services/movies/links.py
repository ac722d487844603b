"""Where the movies service's ids may be carried to, for the links of its OpenAPI document."""

from __future__ import annotations

from toolflow_bench.services.operation import Uses


def _uses(parameter: str, *operations: str) -> Uses:
    return tuple((operation, parameter) for operation in operations)


# The usual next steps, not all there are: every use of an id at every source would drown a reader.
FILM_USES = _uses(
    "film_id",
    "get_film",
    "get_film_score",
    "get_film_budget",
    "get_film_links",
    "list_film_genres",
    "list_film_awards",
)
FOUND_FILM_USES = (
    *FILM_USES,
    *_uses(
        "film_id",
        "get_score_histogram",
        "add_to_watchlist",
        "rate_film",
        "schedule_screening",
        "order_print",
        "send_recommendation",
    ),
)
GENRE_USES = _uses("genre_id", "list_films_of_genre")
CERTIFICATE_USES = _uses("certificate_id", "get_certificate")
ENTRY_USES = _uses("board_id", "get_board_entry", "list_entry_reviews")
TAG_USES = _uses("tag_id", "list_entries_with_tag")
REVIEW_USES = _uses("review_id", "get_review", "report_review")
REVIEWER_USES = _uses("reviewer_id", "get_reviewer", "list_reviewer_reviews", "send_recommendation")
AWARD_USES = _uses("award_id", "get_award")
PERSON_USES = _uses("person_id", "get_person", "list_person_awards")
PLACE_USES = _uses("place_id", "list_people_born_in")
RELEASE_USES = _uses("box_office_id", "get_box_office")
