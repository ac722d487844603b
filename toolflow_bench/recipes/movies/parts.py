"""Pieces that several programs and queries begin with."""

from __future__ import annotations

FIND = """
def find(title, year):
    films = search_films(title=title, from_year=year, to_year=year)
    return next(film["film_id"] for film in films if film["title"] == title)

"""
"""The film of exactly this title and year."""

WON = """
    movies.awards JOIN movies.people USING (person_id) JOIN movies.places USING (place_id)
    JOIN movies.films USING (film_id)
"""
"""Every award with its winner, the winner's place of birth and the film; `places.name` is the place's name."""

SEEN = """
    movies.reviews JOIN movies.reviewers USING (reviewer_id) JOIN movies.board USING (board_id)
    JOIN movies.films USING (film_id)
"""
"""Every review with its writer and the film."""
