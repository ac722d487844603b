"""The movies service: its data are the wheel's, its ids lead somewhere, its pages are whole, its writes leave state."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from toolflow_bench.services.context import Context
from toolflow_bench.services.database import Connections, connect, frame
from toolflow_bench.services.movies import OPERATIONS, SERVICE
from toolflow_bench.services.movies.data import movies_database
from toolflow_bench.services.movies.titles import Catalogue, key, keys, main_title, natural
from toolflow_bench.services.operation import Refusal, check

BY_ID = {operation.id: operation for operation in OPERATIONS}


@pytest.fixture(scope="module")
def database() -> Path:
    return movies_database()


class Service:
    """Operations as functions, arguments checked and completed as over HTTP."""

    def __init__(self, context: Context) -> None:
        self.state = context.state
        self._context = context

    def __call__(self, operation: str, /, **arguments: Any) -> Any:
        found = BY_ID[operation]
        return found.handler(self._context, check(found.parameters, arguments))

    def film(self, title: str, year: int) -> str:
        films = self("search_films", title=title, from_year=year, to_year=year)["films"]
        return str(next(film["film_id"] for film in films if film["title"] == title))


@pytest.fixture
def movies(database: Path) -> Iterator[Service]:
    connections = Connections(database)
    yield Service(Context(connections))
    connections.close()


def test_the_catalogue_has_every_film_of_the_data_set_and_those_that_others_add(database: Path) -> None:
    with closing(connect(database)) as connection:
        known = connection.execute("SELECT count(*) FROM films WHERE votes IS NOT NULL").fetchone()[0]
        added = connection.execute("SELECT count(*) FROM films WHERE votes IS NULL").fetchone()[0]
        reviews = connection.execute("SELECT count(*) FROM reviews").fetchone()[0]
        matched = connection.execute(
            "SELECT count(*) FROM board JOIN films USING (film_id) WHERE votes IS NOT NULL"
        ).fetchone()[0]
    assert known == len(frame("ggplot2movies", "movies")) == 58788
    assert reviews == len(frame("dslabs", "movielens")) - 7  # five entries without a title had seven reviews
    assert added > 3000
    assert matched > 5800


def test_no_film_has_two_board_entries_and_every_award_names_a_film_and_a_person(database: Path) -> None:
    with closing(connect(database)) as connection:
        twice = "SELECT count(*) FROM (SELECT film_id FROM board GROUP BY 1 HAVING count(*) > 1)"
        assert connection.execute(twice).fetchone()[0] == 0
        whole = "SELECT count(*) FROM awards JOIN films USING (film_id) JOIN people USING (person_id)"
        whole += " JOIN places USING (place_id)"
        assert connection.execute(whole).fetchone()[0] == len(frame("openintro", "oscars")) == 184
        gross = "SELECT count(*), sum(worldwide_gross_usd) FROM box_office JOIN films USING (film_id)"
        marvel = frame("openintro", "mcu_films")
        assert tuple(connection.execute(gross).fetchone()) == (23, int(marvel["gross_world"].sum()))


@pytest.mark.parametrize(
    ("title", "year", "minutes", "budget", "score", "votes"),
    [
        ("The Matrix", 1999, 136, 63_000_000, 8.5, 143_853),
        ("Casablanca", 1942, 102, 950_000, 8.8, 66_030),
        ("Fargo", 1996, 98, 7_000_000, 8.2, 65_597),
    ],
)
def test_a_film_has_the_figures_of_the_data(
    movies: Service, title: str, year: int, minutes: int, budget: int, score: float, votes: int
) -> None:
    film = movies.film(title, year)
    assert movies("get_film", film_id=film)["runtime_minutes"] == minutes
    assert movies("get_film_budget", film_id=film)["budget_usd"] == budget
    assert movies("get_film_score", film_id=film) == {"film_id": film, "mean_score": score, "votes": votes}


def test_a_member_s_review_is_the_data_set_s_row(movies: Service) -> None:
    data = frame("dslabs", "movielens")
    row = data[(data["userId"] == 16) & data["title"].str.startswith("Dinner Rush")].iloc[0]
    entry = movies("get_film_links", film_id=movies.film("Dinner Rush", 2000))["board_id"]
    reviewer = movies("find_reviewer", member_number=16)["reviewer_id"]
    mine = [r for r in movies("list_entry_reviews", board_id=entry)["reviews"] if r["reviewer_id"] == reviewer]
    assert movies("get_review", review_id=mine[0]["review_id"])["stars"] == row["rating"]


def test_an_award_leads_to_its_winner_and_the_place_of_birth(movies: Service) -> None:
    (award_id,) = movies("list_film_awards", film_id=movies.film("Fargo", 1996))["award_ids"]
    award = movies("get_award", award_id=award_id)
    person = movies("get_person", person_id=award["person_id"])
    places = {place["place_id"]: place["name"] for place in movies("list_birthplaces")["places"]}
    assert (person["name"], person["born_on"], places[person["place_id"]]) == (
        "Frances McDormand",
        "1957-06-23",
        "Illinois",
    )
    assert (award["ceremony_year"], award["category"], award["age_years"]) == (1997, "actress", 39)
    assert award_id in movies("list_person_awards", person_id=award["person_id"])["award_ids"]
    assert award["person_id"] in movies("list_people_born_in", place_id=person["place_id"])["person_ids"]
    assert award_id in [listed["award_id"] for listed in movies("list_ceremony_awards", ceremony_year=1997)["awards"]]


def test_links_lead_to_the_board_and_the_box_office_and_back(movies: Service) -> None:
    film = movies.film("Iron Man", 2008)
    links = movies("get_film_links", film_id=film)
    assert movies("get_board_entry", board_id=links["board_id"])["film_id"] == film
    release = movies("get_box_office", box_office_id=links["box_office_id"])
    assert (release["film_id"], release["released_on"], release["worldwide_gross_usd"]) == (
        film,
        "2008-05-02",
        585_796_247,
    )
    assert movies("get_film_links", film_id=movies.film("Hud", 1963))["box_office_id"] is None


def test_the_exact_title_comes_first_and_a_board_s_other_title_is_found(movies: Service) -> None:
    assert movies("search_films", title="heat", from_year=1990)["films"][0]["title"] == "Heat"
    assert movies("search_films", title="the matrix")["films"][0]["year"] == 1999
    found = movies("search_films", title="Seven Samurai", from_year=1954, to_year=1954)["films"]
    assert [film["title"] for film in found] == ["Shichinin no samurai"]
    assert [film["year"] for film in movies("search_films", title="$")["films"]] == [1971]
    assert movies("search_films", title="?!")["films"] == []
    assert movies("search_people", name="!")["people"] == []


def test_pages_are_whole_and_hold_nothing_twice(movies: Service) -> None:
    seen: list[str] = []
    first = movies("list_films_of_year", year=1931, page_size=200)
    for page in range(1, first["pages"] + 1):
        seen += [film["film_id"] for film in movies("list_films_of_year", year=1931, page=page, page_size=200)["films"]]
    assert len(seen) == len(set(seen)) == first["total"] > 300
    assert movies("list_films_of_year", year=1931, page=first["pages"] + 1, page_size=200)["films"] == []


def test_filters_hold_for_every_item(movies: Service, database: Path) -> None:
    drama = next(genre["genre_id"] for genre in movies("list_genres")["genres"] if genre["name"] == "Drama")
    page = movies("list_films_of_genre", genre_id=drama, year=1962, page_size=200)
    assert all(drama in movies("list_film_genres", film_id=film["film_id"])["genre_ids"] for film in page["films"][:20])
    data = frame("ggplot2movies", "movies")
    assert page["total"] == int(((data["year"] == 1962) & (data["Drama"] == 1)).sum())
    long = movies("find_films_by_runtime", year=1962, min_minutes=200, max_minutes=230)
    wanted = data[(data["year"] == 1962) & data["length"].between(200, 230)]
    assert [film["runtime_minutes"] for film in long["films"]] == sorted(wanted["length"].tolist())


def test_dates_limit_reviews_and_both_ends_count(movies: Service) -> None:
    reviewer = movies("find_reviewer", member_number=16)["reviewer_id"]
    whole = movies("list_reviewer_reviews", reviewer_id=reviewer)["total"]
    day = movies("list_reviewer_reviews", reviewer_id=reviewer, from_date="2006-05-21", to_date="2006-05-21")
    dates = {movies("get_review", review_id=r["review_id"])["written_at"][:10] for r in day["reviews"]}
    assert (whole, day["total"], dates) == (29, 7, {"2006-05-21"})
    assert movies("get_reviewer", reviewer_id=reviewer)["first_review_on"] == "2006-01-18"


def test_tags_of_an_entry_list_it(movies: Service) -> None:
    names = {tag["tag_id"]: tag["name"] for tag in movies("list_tags")["tags"]}
    entry = movies("get_film_links", film_id=movies.film("The Big Sleep", 1946))["board_id"]
    tags = movies("get_board_entry", board_id=entry)["tag_ids"]
    assert sorted(names[tag] for tag in tags) == ["Crime", "Film-Noir", "Mystery"]
    listed = movies("list_entries_with_tag", tag_id=tags[0], year=1946, page_size=200)["entries"]
    assert entry in [one["board_id"] for one in listed]


def test_the_histogram_has_ten_scores_and_none_where_nobody_voted(movies: Service) -> None:
    bars = movies("get_score_histogram", film_id=movies.film("The Godfather", 1972))["bars"]
    assert [bar["score"] for bar in bars] == list(range(1, 11))
    assert bars[-1]["share_percent"] == 45.5
    with pytest.raises(Refusal, match="nobody voted") as refused:
        movies("get_score_histogram", film_id=movies.film("Black Swan", 2010))
    assert refused.value.status == 404


NOTHING = {
    "film_id": "fm_aaaaa",
    "genre_id": "gn_aaaaa",
    "certificate_id": "ct_aaaaa",
    "board_id": "be_aaaaa",
    "tag_id": "tg_aaaaa",
    "review_id": "rv_aaaaa",
    "reviewer_id": "us_aaaaa",
    "award_id": "aw_aaaaa",
    "person_id": "pp_aaaaa",
    "place_id": "pl_aaaaa",
    "box_office_id": "bo_aaaaa",
    "member_number": 672,
}
OTHERS = {
    "priority": "low",
    "stars": 3,
    "hall": "red",
    "date": "2027-06-09",
    "start_time": "14:00",
    "format": "dcp",
    "copies": 1,
    "reason": "spam",
}


@pytest.mark.parametrize("operation", [o.id for o in OPERATIONS if o.missing])
def test_an_unknown_id_is_404_and_the_sentence_names_an_operation(movies: Service, operation: str) -> None:
    needed = [p.name for p in BY_ID[operation].parameters if p.required]
    with pytest.raises(Refusal) as refused:
        movies(operation, **{name: (NOTHING | OTHERS)[name] for name in needed})
    assert refused.value.status == 404
    assert any(name in refused.value.detail for name in BY_ID) or operation == "find_reviewer"


def test_certificates_are_codes_and_older_films_have_none(movies: Service) -> None:
    fargo = movies("get_film", film_id=movies.film("Fargo", 1996))
    assert movies("get_certificate", certificate_id=fargo["certificate_id"])["code"] == "R"
    assert movies("get_film", film_id=movies.film("Casablanca", 1942))["certificate_id"] is None


def test_the_watchlist_grows_and_takes_a_film_once(movies: Service) -> None:
    before = movies("list_film_watchlist")["items"]
    film = movies.film("Chinatown", 1974)
    item = movies("add_to_watchlist", film_id=film, priority="high")
    assert movies("list_film_watchlist")["items"] == [*before, item]
    assert movies.state.snapshot() == {"watchlist": [{"film_id": film, "priority": "high"}]}
    for again in (film, before[0]["film_id"]):
        with pytest.raises(Refusal, match="already") as refused:
            movies("add_to_watchlist", film_id=again, priority="low")
        assert refused.value.status == 409


def test_a_new_rating_replaces_the_old_one_in_its_place(movies: Service) -> None:
    before = movies("list_own_ratings")["ratings"]
    film = before[1]["film_id"]
    movies("rate_film", film_id=film, stars=1)
    movies("rate_film", film_id=film, stars=2)
    after = movies("list_own_ratings")["ratings"]
    assert [rating["film_id"] for rating in after] == [rating["film_id"] for rating in before]
    assert [rating["stars"] for rating in after] == [4, 2, *[rating["stars"] for rating in before[2:]]]
    assert movies.state.snapshot() == {"ratings": [{"film_id": film, "stars": 2}]}


def test_a_slot_takes_one_film_within_the_festival(movies: Service) -> None:
    film = movies.film("Chinatown", 1974)
    slot = {"hall": "red", "date": "2027-06-09", "start_time": "14:00"}
    planned = movies("schedule_screening", film_id=film, **slot)
    assert movies("list_screenings", date="2027-06-09")["screenings"] == [planned]
    assert movies.state.snapshot() == {"screenings": [{"film_id": film, **slot}]}
    taken = {"hall": "red", "date": "2027-06-04", "start_time": "20:00"}  # Casablanca
    for where in (slot, taken):
        with pytest.raises(Refusal, match="is taken") as refused:
            movies("schedule_screening", film_id=film, **where)
        assert refused.value.status == 409
    with pytest.raises(Refusal, match="2027-06-13") as refused:
        movies("schedule_screening", film_id=film, **{**slot, "date": "2027-06-14"})
    assert refused.value.status == 422


def test_orders_recommendations_and_reports_leave_records_that_nothing_shows(movies: Service) -> None:
    film = movies.film("Chinatown", 1974)
    reviewer = movies("find_reviewer", member_number=16)["reviewer_id"]
    review = movies("list_reviewer_reviews", reviewer_id=reviewer)["reviews"][0]["review_id"]
    movies("order_print", film_id=film, format="35mm", copies=2)
    movies("send_recommendation", film_id=film, reviewer_id=reviewer)
    movies("report_review", review_id=review, reason="off_topic")
    assert movies.state.snapshot() == {
        "print_orders": [{"film_id": film, "format": "35mm", "copies": 2}],
        "recommendations": [{"film_id": film, "reviewer_id": reviewer}],
        "reports": [{"review_id": review, "reason": "off_topic"}],
    }


def test_the_desk_holds_the_films_that_its_comments_name(database: Path) -> None:
    titles = {}
    with closing(connect(database)) as connection:
        for table in ("watchlist", "own_ratings", "screenings"):
            sql = f"SELECT title FROM {table} JOIN films USING (film_id) ORDER BY {table}.rowid"
            titles[table] = [row[0] for row in connection.execute(sql)]
    assert titles == {
        "watchlist": [
            "Vertigo",
            "Amadeus",
            "Fargo",
            "The African Queen",
            "Gladiator",
            "Kramer vs. Kramer",
            "Toy Story",
        ],
        "own_ratings": ["Jaws", "Alien", "Rain Man", "Shrek", "Speed", "Ghost"],
        "screenings": ["Casablanca", "Moonstruck", "Network", "The Hustler", "Cabaret", "Patton"],
    }


def test_writes_are_of_three_kinds_two_each() -> None:
    writes = [operation for operation in OPERATIONS if operation.writes]
    assert len(OPERATIONS) == len(BY_ID) >= 27
    assert [sum(o.takes_key for o in writes), sum(bool(o.verified_by) for o in writes)] == [2, 2]
    assert len(writes) == 6
    assert {o.verified_by for o in writes} - {""} <= set(BY_ID)
    assert SERVICE.name == "movies"


@pytest.mark.parametrize(
    ("title", "wanted"),
    [
        ("Matrix, The", "The Matrix"),
        ("Avventura, L'", "L'Avventura"),
        ("Love, Actually", "Love, Actually"),
        ("I, Robot", "I, Robot"),
    ],
)
def test_the_article_goes_to_the_front(title: str, wanted: str) -> None:
    assert natural(title) == wanted


def test_titles_are_told_apart_by_words_alone() -> None:
    assert key("Léon & the Bird's Nest!") == "leon and the birds nest"
    assert main_title("Name of the Rose, The (Name der Rose, Der)") == "The Name of the Rose"
    assert list(keys("Seven (a.k.a. Se7en)")) == ["seven", "se7en"]


def test_a_title_that_several_films_have_means_none_of_them() -> None:
    catalogue = Catalogue([("one", "Emma", 1996), ("other", "Emma", 1996), ("third", "Emma", 1972)])
    assert catalogue.find("Emma", (1996,)) is None
    assert catalogue.find("Emma", (1996,), taken={"one": 1}) == "other"
    assert catalogue.find("EMMA", range(1971, 1974)) == "third"
    assert catalogue.find("Emma", (1950,)) is None


def test_the_database_cannot_be_written(database: Path) -> None:
    with closing(connect(database)) as connection, pytest.raises(sqlite3.OperationalError, match="readonly"):
        connection.execute("DELETE FROM films")
