"""Films, reviews, awards and box office from four data sets, as one SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from toolflow_bench.services.database import Database, frame, frame_rows, insert, opaque_id
from toolflow_bench.services.movies.titles import (
    CORRECTED,
    GIVEN,
    Catalogue,
    key,
    keys,
    main_title,
    natural,
)

GENRES = ("Action", "Animation", "Comedy", "Drama", "Documentary", "Romance", "Short")
# Films that other sources add to the catalogue's 58,788 get numbers above those.
_BOARD_FILMS = 100_000
_BOX_OFFICE_FILMS = 300_000
_AWARD_FILMS = 310_000

_SALTS = {
    "fm": 0x1D7A9,
    "ct": 0x31B7,
    "gn": 0x5D21,
    "tg": 0x77E9,
    "be": 0x2E5C3,
    "us": 0x63A1,
    "rv": 0x4F0B7,
}
_SALTS |= {
    "bo": 0x19C5D,
    "pl": 0x3B9F,
    "pp": 0x6C2D,
    "aw": 0x58E3,
    "wl": 0x2A6F,
    "rt": 0x2A6F,
    "sc": 0x2A6F,
}
_CATEGORIES = {"Best actor": "actor", "Best actress": "actress"}


def fill(connection: sqlite3.Connection) -> None:
    """Insert the films, reviews, awards and box office of four data sets into the database."""
    frames = {
        "films": frame("ggplot2movies", "movies"),
        "reviews": frame("dslabs", "movielens"),
        "awards": frame("openintro", "oscars"),
        "box_office": frame("openintro", "mcu_films"),
    }
    catalogue = _films(connection, frames["films"])
    _board(connection, frames["reviews"], catalogue)
    _box_office(connection, frames["box_office"], catalogue)
    _awards(connection, frames["awards"], catalogue)
    words = connection.execute("SELECT film_id, title_key FROM films").fetchall()
    each = {(word, film) for film, text in words for word in text.split()}
    connection.executemany("INSERT OR IGNORE INTO title_words VALUES (?, ?)", each)
    for table, desk in GIVEN["desk"].items():
        rows = enumerate(desk["rows"])
        insert(
            connection,
            table,
            ((_id(desk["prefix"], n), _id("fm", film), *rest) for n, (film, *rest) in rows),
        )


DATABASE = Database(name="movies", home=Path(__file__).parent, megabytes=120, fill=fill)
"""The service's database. The file has about 50 MB."""


def _id(kind: str, number: int) -> str:
    """Return the id of the record of a kind with this number.

    A film's number is its row in the catalogue's data set. Films from other sources have larger
    numbers.
    """
    return opaque_id(kind, number, _SALTS)


def _films(connection: sqlite3.Connection, data: Any) -> Catalogue:
    codes = sorted(data["mpaa"].dropna().unique())
    certificates = {code: _id("ct", number) for number, code in enumerate(codes)}
    insert(connection, "certificates", ((name, code) for code, name in certificates.items()))
    genres = {name: _id("gn", number) for number, name in enumerate(GENRES)}
    insert(connection, "genres", ((name_id, name) for name, name_id in genres.items()))
    shares = " ".join(f"r{score}" for score in range(1, 11))
    rows = []
    of_genre = []
    known = []
    for number, title, year, *rest in frame_rows(
        data, f"rownames title year length mpaa budget rating votes {shares} {' '.join(GENRES)}"
    ):
        length, code, budget, *figures = rest
        film = _id("fm", number)
        title = natural(title)
        budget = None if budget is None else int(budget)
        rows.append(
            (film, title, year, length, certificates.get(code), budget, *figures[:12], key(title))
        )
        of_genre += [
            (genres[name], year, film)
            for name, flag in zip(GENRES, figures[12:], strict=True)
            if flag
        ]
        known.append((film, title, year))
    insert(connection, "films", rows)
    insert(connection, "film_genres", of_genre)
    return Catalogue(known)


def _add_film(
    connection: sqlite3.Connection, catalogue: Catalogue, number: int, title: str, year: int
) -> str:
    """Add a film that the catalogue's data set lacks, with its title and year. Return its id."""
    film = _id("fm", number)
    catalogue.add(film, title, year)
    sql = "INSERT INTO films (film_id, title, year, title_key) VALUES (?, ?, ?, ?)"
    connection.execute(sql, (film, title, year, key(title)))
    return film


def _board(connection: sqlite3.Connection, data: Any, catalogue: Catalogue) -> None:
    data = data[data["title"].notna()]  # five entries have neither title nor year
    entries = list(
        frame_rows(
            data.drop_duplicates("movieId").sort_values("movieId"), "movieId title year genres"
        )
    )
    chosen = _match_entries(entries, catalogue)
    names = sorted(
        {name for *_, text in entries for name in text.split("|")} - {"(no genres listed)"}
    )
    tags = {name: _id("tg", number) for number, name in enumerate(names)}
    insert(connection, "tags", ((tag, name) for name, tag in tags.items()))
    for number, title, year, text in entries:
        if film := chosen.get(number):
            catalogue.add(film, title, int(year))
        else:
            film = _add_film(
                connection, catalogue, _BOARD_FILMS + number, main_title(title), int(year)
            )
        words = {(word, film) for name in keys(title) for word in name.split()}
        connection.executemany("INSERT OR IGNORE INTO title_words VALUES (?, ?)", words)
        sql = "INSERT INTO board VALUES (?, ?, ?, ?)"
        connection.execute(sql, (_id("be", number), film, main_title(title), int(year)))
        rows = [
            (tags[name], int(year), _id("be", number)) for name in text.split("|") if name in tags
        ]
        connection.executemany("INSERT INTO board_tags VALUES (?, ?, ?)", rows)
    insert(
        connection, "reviewers", ((_id("us", n), n) for n in sorted(set(data["userId"].tolist())))
    )
    insert(connection, "reviews", _reviews(data))


def _match_entries(entries: list[tuple[Any, ...]], catalogue: Catalogue) -> dict[int, str]:
    """Match entries of the review board with films of the catalogue.

    Return the film's id for each entry that has a film, keyed by the entry's number.
    """
    films: dict[str, int] = {}
    for spread in (0, 1):  # films of the same year first; sources often differ by one
        for number, title, year, _ in entries:
            if number in films.values():
                continue
            years = range(int(year) - spread, int(year) + spread + 1)
            film = catalogue.find(title, years, taken=films)
            if film is not None:
                films[film] = number
    return {number: film for film, number in films.items()}


def _reviews(data: Any) -> Iterator[tuple[Any, ...]]:
    for number, entry, user, stars, second in frame_rows(
        data, "rownames movieId userId rating timestamp"
    ):
        written = datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        review = _id("rv", number)
        yield (review, _id("be", entry), _id("us", user), stars, written, written[:10])


def _box_office(connection: sqlite3.Connection, data: Any, catalogue: Catalogue) -> None:
    rows = []
    for number, title, released, *money in frame_rows(
        data, "rownames movie release_date opening_weekend_us gross_us gross_world"
    ):
        day = datetime.strptime(released, "%m/%d/%Y").date()
        film = catalogue.find(title, (day.year,)) or _add_film(
            connection, catalogue, _BOX_OFFICE_FILMS + number, CORRECTED.get(title, title), day.year
        )
        rows.append((_id("bo", number), film, day.isoformat(), *money))
    insert(connection, "box_office", rows)


def _awards(connection: sqlite3.Connection, data: Any, catalogue: Catalogue) -> None:
    data = data.assign(birth_pl=data["birth_pl"].replace("Philly", "Pennsylvania"))
    places = {name: _id("pl", n) for n, name in enumerate(sorted(set(data["birth_pl"])))}
    insert(connection, "places", ((place, name) for name, place in places.items()))
    people: dict[str, tuple[Any, ...]] = {}
    awards = []
    for number, year, award, title, age, name, place, born in frame_rows(
        data, "rownames oscar_yr award movie age name birth_pl birth_date"
    ):
        name = CORRECTED.get(name, name)
        person = (_id("pp", number), name, str(born)[:10], places[place], key(name))
        people.setdefault(name, person)
        # The first ceremonies came two years after some of their films.
        likely = (
            [(year - 2,), (year - 1,)]
            if year <= 1933
            else [(year - 1,), (year - 2, year - 1, year)]
        )
        film = catalogue.find(title, likely[0]) or catalogue.find(title, likely[1])
        if film is None:
            film = _add_film(
                connection, catalogue, _AWARD_FILMS + number, CORRECTED.get(title, title), year - 1
            )
        award_id = _id("aw", number)
        awards.append((award_id, year, _CATEGORIES[award], people[name][0], film, age))
    insert(connection, "people", people.values())
    insert(connection, "awards", awards)
