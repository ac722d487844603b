"""Handlers of the movies service that need more than a query.

They are the searches, the histograms, and the operations that plan a festival's screenings.
"""

# Handlers (context, arguments) -> response, each described by the operation of its name in
# `openapi.yaml`. Writes go to the state. Earlier records of the desk are part of the data.
# ruff: noqa: D103

from __future__ import annotations

from toolflow_bench.services.answers import Context, Row
from toolflow_bench.services.movies.titles import key
from toolflow_bench.services.operation import Arguments, Refusal

FIRST_DAY = "2027-06-04"
LAST_DAY = "2027-06-13"
_COMMON = frozenset(("the", "a", "an", "of", "and", "in", "to", "on", "la", "le", "de", "i"))


def search_films(context: Context, arguments: Arguments) -> Row:
    wanted = key(arguments["title"])
    values = {**arguments, "key": wanted, "title": wanted or arguments["title"].strip()}
    words = [word for word in wanted.split() if word not in _COMMON]
    if not words:
        # Thousands of titles have a common word, so only whole titles count. `$` has no words.
        same = "title_key" if wanted else "title"
        sql = f"""
            SELECT film_id, title, year FROM films
            WHERE {same} = :title AND year BETWEEN :from_year AND :to_year
            ORDER BY year, film_id LIMIT :limit"""  # noqa: S608 - no values
        return {"films": context.rows(sql, values)}
    values |= {
        f"w{number}": word for number, word in enumerate(sorted(words, key=len, reverse=True))
    }
    has_word = "SELECT 1 FROM title_words w WHERE w.film_id = films.film_id AND w.word ="
    each = "".join(f" AND EXISTS ({has_word} :w{number})" for number in range(1, len(words)))
    sql = f"""
        SELECT films.film_id, title, year FROM title_words JOIN films USING (film_id)
        WHERE title_words.word = :w0{each} AND year BETWEEN :from_year AND :to_year
        ORDER BY title_key = :key DESC, coalesce(votes, 0) DESC, year, films.film_id
        LIMIT :limit"""  # noqa: S608
    return {"films": context.rows(sql, values)}


def get_score_histogram(context: Context, arguments: Arguments) -> Row:
    row = context.record("film", arguments)
    if row["votes"] is None:
        raise Refusal(
            404, f"nobody voted on the film {row['film_id']!r}; get_film_score says how many did."
        )
    return {
        "bars": [{"score": score, "share_percent": row[f"share_{score}"]} for score in range(1, 11)]
    }


def get_board_entry(context: Context, arguments: Arguments) -> Row:
    tags = context.column(
        "SELECT tag_id FROM board_tags WHERE board_id = :board_id ORDER BY tag_id", arguments
    )
    return {**context.record("entry", arguments), "tag_ids": tags}


def list_film_watchlist(context: Context, _arguments: Arguments) -> Row:
    return {
        "items": context.rows("SELECT * FROM watchlist ORDER BY rowid")
        + context.state.all("watchlist")
    }


def add_to_watchlist(context: Context, arguments: Arguments) -> Row:
    film = arguments["film_id"]
    if any(item["film_id"] == film for item in list_film_watchlist(context, {})["items"]):
        raise Refusal(
            409,
            f"the film {film!r} is on the watchlist already; list_film_watchlist has what is on "
            "it.",
        )
    return dict(context.state.add("watchlist", dict(arguments), id_field="item_id", prefix="wl"))


def list_own_ratings(context: Context, _arguments: Arguments) -> Row:
    changed = {rating["film_id"]: rating for rating in context.state.all("ratings")}
    before = context.rows("SELECT * FROM own_ratings ORDER BY rowid")
    return {
        "ratings": [changed.pop(rating["film_id"], rating) for rating in before]
        + list(changed.values())
    }


def rate_film(context: Context, arguments: Arguments) -> Row:
    for rating in context.state.all("ratings"):
        if rating["film_id"] == arguments["film_id"]:
            return context.state.change(
                "ratings", str(rating["rating_id"]), otherwise="", stars=arguments["stars"]
            )
    return dict(context.state.add("ratings", dict(arguments), id_field="rating_id", prefix="rt"))


def list_screenings(context: Context, arguments: Arguments) -> Row:
    day = arguments["date"]
    found = [screening for screening in _screenings(context) if day in (None, screening["date"])]
    return {"screenings": sorted(found, key=_slot)}


def schedule_screening(context: Context, arguments: Arguments) -> Row:
    hall = arguments["hall"]
    date = arguments["date"]
    start = arguments["start_time"]
    if not FIRST_DAY <= date <= LAST_DAY:
        raise Refusal(422, f"argument 'date' must be from {FIRST_DAY} to {LAST_DAY}, got {date!r}.")
    if any(_slot(other) == (date, start, hall) for other in _screenings(context)):
        raise Refusal(
            409,
            f"the {hall} hall is taken on {date} at {start}; list_screenings has what is planned.",
        )
    return dict(
        context.state.add("screenings", dict(arguments), id_field="screening_id", prefix="sc")
    )


def _screenings(context: Context) -> list[Row]:
    return context.rows("SELECT * FROM screenings") + context.state.all("screenings")


def _slot(screening: Row) -> tuple[str, str, str]:
    return screening["date"], screening["start_time"], screening["hall"]
