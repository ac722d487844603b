"""Valid arguments of the movies service."""

from __future__ import annotations

from toolflow_bench.probing.valid.draw import Valid

_REVIEWED = "SELECT film_id FROM board WHERE film_id IS NOT NULL"
_FILM = "SELECT film_id FROM films"
_BUDGETED = "SELECT film_id FROM films WHERE budget_usd IS NOT NULL"
_NOTHING = "SELECT 1 AS no_argument"
_AWARDED = "SELECT film_id FROM awards WHERE film_id IS NOT NULL"

VALID = Valid(
    anywhere={
        "film_id": _FILM,
        "genre_id": "SELECT genre_id FROM genres",
        "certificate_id": "SELECT certificate_id FROM certificates",
        "board_id": "SELECT board_id FROM board",
        "tag_id": "SELECT tag_id FROM tags",
        "review_id": "SELECT review_id FROM reviews",
        "reviewer_id": "SELECT reviewer_id FROM reviewers",
        "member_number": "SELECT member_number FROM reviewers",
        "award_id": "SELECT award_id FROM awards",
        "ceremony_year": "SELECT DISTINCT ceremony_year FROM awards",
        "person_id": "SELECT person_id FROM people",
        "place_id": "SELECT place_id FROM places",
        "box_office_id": "SELECT box_office_id FROM box_office",
        "name": "SELECT name FROM people",
        "title": "SELECT title FROM films",
        "year": "SELECT year FROM films",
        "from_year": (1900, 1950, 1980),
        "to_year": (1970, 1990, 2010),
        "min_minutes": (1, 60, 90),
        "max_minutes": (90, 120, 300),
        "from_date": ("1996-01-01", "2000-06-15", "2005-01-01"),
        "to_date": ("2004-12-31", "2010-06-30", "2016-12-31"),
    },
    of_tool={
        "get_film": (_FILM, _REVIEWED, _AWARDED),
        "get_film_budget": (_FILM, _BUDGETED),
        "get_film_links": (_FILM, _REVIEWED, _AWARDED, "SELECT film_id FROM box_office WHERE film_id IS NOT NULL"),
        "list_film_genres": (_FILM, "SELECT film_id FROM film_genres"),
        "list_film_awards": (_AWARDED, _FILM),
        "list_films_of_genre": ("SELECT genre_id FROM genres", "SELECT genre_id, year FROM film_genres"),
        "list_entries_with_tag": ("SELECT tag_id FROM tags", "SELECT tag_id, year FROM board_tags"),
        "list_box_office": ("SELECT CAST(substr(released_on, 1, 4) AS INTEGER) AS year FROM box_office", _NOTHING),
        "schedule_screening": ("SELECT date FROM screenings",),
        "list_screenings": ("SELECT date FROM screenings", _NOTHING),
    },
)
