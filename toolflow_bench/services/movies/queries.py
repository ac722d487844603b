"""Answers of the movies service about films, reviews, awards and box office: an indexed query or two each."""

# Handlers (context, arguments) -> response. Each one is described by its Operation; SQL is put together from names in
# this module only, values are always bound.
# ruff: noqa: D103, S608

from __future__ import annotations

from toolflow_bench.services.context import Context, Row, paged
from toolflow_bench.services.movies.titles import key
from toolflow_bench.services.operation import Arguments, Refusal

_COMMON = frozenset(("the", "a", "an", "of", "and", "in", "to", "on", "la", "le", "de", "i"))


def require_film(context: Context, film: str) -> str:
    """`film`, or a 404 where no film has this id."""
    return str(_require(context, "films", "film_id", film, "film", "search_films finds films"))


def require_entry(context: Context, entry: str) -> str:
    """`entry`, or a 404 where no board entry has this id."""
    return str(_require(context, "board", "board_id", entry, "board entry", "get_film_links gives a film's"))


def require_review(context: Context, review: str) -> str:
    """`review`, or a 404 where no review has this id."""
    hint = "list_entry_reviews and list_reviewer_reviews give reviews"
    return str(_require(context, "reviews", "review_id", review, "review", hint))


def require_reviewer(context: Context, reviewer: str) -> str:
    """`reviewer`, or a 404 where no reviewer has this id."""
    return str(_require(context, "reviewers", "reviewer_id", reviewer, "reviewer", "find_reviewer finds reviewers"))


def _require(context: Context, table: str, column: str, name: str, noun: str, hint: str) -> str:
    sql = f"SELECT {column} FROM {table} WHERE {column} = ?"
    return str(context.one(sql, name, otherwise=f"there is no {noun} {name!r}; {hint}.")[column])


def search_films(context: Context, arguments: Arguments) -> Row:
    wanted = key(arguments["title"])
    years = arguments["from_year"], arguments["to_year"]
    words = [word for word in wanted.split() if word not in _COMMON]
    if not words:  # thousands of titles have such a word, so only those that are just this; `$` has no words at all
        same = "title_key = ?" if wanted else "title = ?"
        sql = f"""
            SELECT film_id, title, year FROM films WHERE {same} AND year BETWEEN ? AND ?
            ORDER BY year, film_id LIMIT ?"""
        return {"films": context.rows(sql, wanted or arguments["title"].strip(), *years, arguments["limit"])}
    first, *others = sorted(words, key=len, reverse=True)
    each = "".join(
        " AND EXISTS (SELECT 1 FROM title_words w WHERE w.word = ? AND w.film_id = films.film_id)" for _ in others
    )
    sql = f"""
        SELECT films.film_id, title, year FROM title_words JOIN films USING (film_id)
        WHERE title_words.word = ?{each} AND year BETWEEN ? AND ?
        ORDER BY title_key = ? DESC, coalesce(votes, 0) DESC, year, films.film_id LIMIT ?"""
    return {"films": context.rows(sql, first, *others, *years, wanted, arguments["limit"])}


def get_film(context: Context, arguments: Arguments) -> Row:
    sql = "SELECT film_id, title, year, runtime_minutes, certificate_id FROM films WHERE film_id = ?"
    return _film_row(context, sql, arguments)


def get_film_budget(context: Context, arguments: Arguments) -> Row:
    return _film_row(context, "SELECT film_id, budget_usd FROM films WHERE film_id = ?", arguments)


def get_film_score(context: Context, arguments: Arguments) -> Row:
    return _film_row(context, "SELECT film_id, mean_score, votes FROM films WHERE film_id = ?", arguments)


def _film_row(context: Context, sql: str, arguments: Arguments) -> Row:
    film = arguments["film_id"]
    return context.one(sql, film, otherwise=f"there is no film {film!r}; search_films finds films.")


def get_score_histogram(context: Context, arguments: Arguments) -> Row:
    film = require_film(context, arguments["film_id"])
    row = context.rows("SELECT * FROM films WHERE film_id = ?", film)[0]
    if row["votes"] is None:
        raise Refusal(404, f"nobody voted on the film {film!r}; get_film_score says how many did.")
    bars = [{"score": score, "share_percent": row[f"share_{score}"]} for score in range(1, 11)]
    return {"bars": bars}


def get_film_links(context: Context, arguments: Arguments) -> Row:
    sql = """
        SELECT film_id, board_id, box_office_id FROM films
        LEFT JOIN board USING (film_id) LEFT JOIN box_office USING (film_id) WHERE film_id = ?"""
    return _film_row(context, sql, arguments)


def list_film_genres(context: Context, arguments: Arguments) -> Row:
    film = require_film(context, arguments["film_id"])
    return {"genre_ids": context.column("SELECT genre_id FROM film_genres WHERE film_id = ? ORDER BY genre_id", film)}


def list_genres(context: Context, _arguments: Arguments) -> Row:
    return {"genres": context.rows("SELECT genre_id, name FROM genres ORDER BY name")}


def list_films_of_genre(context: Context, arguments: Arguments) -> Row:
    genre = _require(context, "genres", "genre_id", arguments["genre_id"], "genre", "list_genres has them all")
    conditions = {"genre_id = ?": genre, "year = ?": arguments["year"]}
    columns, order = "film_id", "year, film_id"
    return paged(context, "films", columns, "film_genres", conditions, order=order, arguments=arguments)


def list_films_of_year(context: Context, arguments: Arguments) -> Row:
    conditions = {"year = ?": arguments["year"]}
    return paged(context, "films", "film_id, title", "films", conditions, order="title, film_id", arguments=arguments)


def find_films_by_runtime(context: Context, arguments: Arguments) -> Row:
    conditions = {
        "year = ?": arguments["year"],
        "runtime_minutes >= ?": arguments["min_minutes"],
        "runtime_minutes <= ?": arguments["max_minutes"],
    }
    columns, order = "film_id, runtime_minutes", "runtime_minutes, film_id"
    return paged(context, "films", columns, "films", conditions, order=order, arguments=arguments)


def get_certificate(context: Context, arguments: Arguments) -> Row:
    name = arguments["certificate_id"]
    sql = "SELECT certificate_id, code FROM certificates WHERE certificate_id = ?"
    return context.one(sql, name, otherwise=f"there is no certificate {name!r}; get_film names a film's.")


def get_board_entry(context: Context, arguments: Arguments) -> Row:
    entry = require_entry(context, arguments["board_id"])
    row = context.rows("SELECT board_id, film_id FROM board WHERE board_id = ?", entry)[0]
    tags = context.column("SELECT tag_id FROM board_tags WHERE board_id = ? ORDER BY tag_id", entry)
    return {**row, "tag_ids": tags}


def list_tags(context: Context, _arguments: Arguments) -> Row:
    return {"tags": context.rows("SELECT tag_id, name FROM tags ORDER BY name")}


def list_entries_with_tag(context: Context, arguments: Arguments) -> Row:
    tag = _require(context, "tags", "tag_id", arguments["tag_id"], "tag", "list_tags has them all")
    conditions = {"tag_id = ?": tag, "year = ?": arguments["year"]}
    columns, order = "board_id, year", "year, board_id"
    return paged(context, "entries", columns, "board_tags", conditions, order=order, arguments=arguments)


def list_entry_reviews(context: Context, arguments: Arguments) -> Row:
    conditions = {"board_id = ?": require_entry(context, arguments["board_id"]), **_between(arguments)}
    columns, order = "review_id, reviewer_id", "written_on, written_at, review_id"
    return paged(context, "reviews", columns, "reviews", conditions, order=order, arguments=arguments)


def list_reviewer_reviews(context: Context, arguments: Arguments) -> Row:
    conditions = {"reviewer_id = ?": require_reviewer(context, arguments["reviewer_id"]), **_between(arguments)}
    columns, order = "review_id, board_id", "written_on, written_at, review_id"
    return paged(context, "reviews", columns, "reviews", conditions, order=order, arguments=arguments)


def _between(arguments: Arguments) -> Row:
    return {"written_on >= ?": arguments["from_date"], "written_on <= ?": arguments["to_date"]}


def get_review(context: Context, arguments: Arguments) -> Row:
    review = require_review(context, arguments["review_id"])
    sql = "SELECT review_id, board_id, reviewer_id, stars, written_at FROM reviews WHERE review_id = ?"
    return context.rows(sql, review)[0]


def find_reviewer(context: Context, arguments: Arguments) -> Row:
    number = arguments["member_number"]
    sql = "SELECT reviewer_id FROM reviewers WHERE member_number = ?"
    return context.one(sql, number, otherwise=f"there is no member {number}; numbers go from 1 to 671.")


def get_reviewer(context: Context, arguments: Arguments) -> Row:
    reviewer = require_reviewer(context, arguments["reviewer_id"])
    sql = """
        SELECT reviewer_id, member_number, (SELECT min(written_on) FROM reviews r WHERE r.reviewer_id = ?1)
            AS first_review_on FROM reviewers WHERE reviewer_id = ?1"""
    return context.rows(sql, reviewer)[0]


def list_ceremony_awards(context: Context, arguments: Arguments) -> Row:
    sql = "SELECT award_id, category FROM awards WHERE ceremony_year = ? ORDER BY category, award_id"
    return {"awards": context.rows(sql, arguments["ceremony_year"])}


def get_award(context: Context, arguments: Arguments) -> Row:
    award = arguments["award_id"]
    sql = """SELECT award_id, ceremony_year, category, person_id, film_id, age_years FROM awards WHERE award_id = ?"""
    missing = f"there is no award {award!r}; list_ceremony_awards, list_film_awards and list_person_awards give awards."
    return context.one(sql, award, otherwise=missing)


def list_film_awards(context: Context, arguments: Arguments) -> Row:
    film = require_film(context, arguments["film_id"])
    sql = "SELECT award_id FROM awards WHERE film_id = ? ORDER BY ceremony_year, category, award_id"
    return {"award_ids": context.column(sql, film)}


def list_person_awards(context: Context, arguments: Arguments) -> Row:
    person = _require_person(context, arguments["person_id"])
    sql = "SELECT award_id FROM awards WHERE person_id = ? ORDER BY ceremony_year, award_id"
    return {"award_ids": context.column(sql, person)}


def search_people(context: Context, arguments: Arguments) -> Row:
    words = key(arguments["name"]).split()
    if not words:
        return {"people": []}
    each = " AND ".join("' ' || name_key || ' ' LIKE ?" for _ in words)
    sql = f"SELECT person_id, name FROM people WHERE {each} ORDER BY name"
    return {"people": context.rows(sql, *(f"% {word} %" for word in words))}


def get_person(context: Context, arguments: Arguments) -> Row:
    person = _require_person(context, arguments["person_id"])
    return context.rows("SELECT person_id, name, born_on, place_id FROM people WHERE person_id = ?", person)[0]


def _require_person(context: Context, person: str) -> str:
    return _require(context, "people", "person_id", person, "person", "search_people finds people")


def list_birthplaces(context: Context, _arguments: Arguments) -> Row:
    return {"places": context.rows("SELECT place_id, name FROM places ORDER BY name")}


def list_people_born_in(context: Context, arguments: Arguments) -> Row:
    place = _require(context, "places", "place_id", arguments["place_id"], "place", "list_birthplaces has them all")
    sql = "SELECT person_id FROM people WHERE place_id = ? ORDER BY person_id"
    return {"person_ids": context.column(sql, place)}


def list_box_office(context: Context, arguments: Arguments) -> Row:
    columns, order = "box_office_id, released_on", "released_on"
    conditions = {"substr(released_on, 1, 4) = ?": _text(arguments["year"])}
    return paged(context, "releases", columns, "box_office", conditions, order=order, arguments=arguments)


def _text(year: int | None) -> str | None:
    return None if year is None else str(year)


def get_box_office(context: Context, arguments: Arguments) -> Row:
    release = arguments["box_office_id"]
    missing = f"there is no release {release!r}; list_box_office and get_film_links give releases."
    return context.one("SELECT * FROM box_office WHERE box_office_id = ?", release, otherwise=missing)
