"""Operations of the movies service on films, their genres, scores and box office."""

from __future__ import annotations

from toolflow_bench.services.movies import queries as queries
from toolflow_bench.services.movies.links import (
    CERTIFICATE_USES,
    ENTRY_USES,
    FILM_USES,
    FOUND_FILM_USES,
    GENRE_USES,
    RELEASE_USES,
)
from toolflow_bench.services.movies.parameters import (
    CERTIFICATE,
    FILM,
    FROM_YEAR,
    GENRE,
    LIMIT,
    MAX_MINUTES,
    MIN_MINUTES,
    PAGING,
    RELEASE,
    TITLE,
    TO_YEAR,
    YEAR,
    YEAR_FILTER,
)
from toolflow_bench.services.operation import Operation

_NO_FILM = "There is no film of this id."

FILM_OPERATIONS = (
    Operation(
        id="search_films",
        tag="films",
        path="/films",
        description=(
            "Find films whose title has all the given words, among 62,000 of the years 1893 to 2019. A film of exactly "
            "this title comes first, then those with the most votes. Several films may share a title: the year tells "
            "them apart. Common words such as 'the' are left out of account, but for titles that have no others."
        ),
        parameters=(TITLE, FROM_YEAR, TO_YEAR, LIMIT),
        returns="FoundFilms",
        handler=queries.search_films,
        links=(("/films/0/film_id", FOUND_FILM_USES),),
    ),
    Operation(
        id="get_film",
        tag="films",
        path="/films/{film_id}",
        description=(
            "The record of one film: title, year, length in minutes and certificate. Films that were added for their "
            "reviews or awards alone have no length; only newer films of the USA have a certificate."
        ),
        parameters=(FILM,),
        returns="Film",
        handler=queries.get_film,
        missing=_NO_FILM,
        links=(("/certificate_id", CERTIFICATE_USES),),
    ),
    Operation(
        id="get_film_budget",
        tag="films",
        path="/films/{film_id}/budget",
        description="What one film cost to make, in US dollars of the time. It is known of one film in twelve.",
        parameters=(FILM,),
        returns="FilmBudget",
        handler=queries.get_film_budget,
        missing=_NO_FILM,
    ),
    Operation(
        id="get_film_score",
        tag="films",
        path="/films/{film_id}/score",
        description=(
            "The mean score that the public gave one film, 1 to 10, and how many votes it rests on. These votes have "
            "nothing to do with the reviews of the board."
        ),
        parameters=(FILM,),
        returns="FilmScore",
        handler=queries.get_film_score,
        missing=_NO_FILM,
    ),
    Operation(
        id="get_score_histogram",
        tag="films",
        path="/films/{film_id}/score/histogram",
        description=(
            "How the public's votes for one film spread over the scores 1 to 10, each as a share in percent. Shares "
            "are banded: 4.5 stands for 1 to 9 percent, 14.5 for 10 to 19 and so on, so they need not add up to 100."
        ),
        parameters=(FILM,),
        returns="Histogram",
        handler=queries.get_score_histogram,
        missing="There is no film of this id, or nobody voted on it.",
    ),
    Operation(
        id="get_film_links",
        tag="films",
        path="/films/{film_id}/links",
        description=(
            "Where else one film has a record: the id of its entry on the review board, and of its box-office record. "
            "get_board_entry and get_box_office lead back to the film."
        ),
        parameters=(FILM,),
        returns="FilmLinks",
        handler=queries.get_film_links,
        missing=_NO_FILM,
        links=(("/board_id", ENTRY_USES), ("/box_office_id", RELEASE_USES)),
    ),
    Operation(
        id="list_film_genres",
        tag="genres",
        path="/films/{film_id}/genres",
        description="Ids of the genres that one film belongs to, none to five. list_genres has their names.",
        parameters=(FILM,),
        returns="GenreIds",
        handler=queries.list_film_genres,
        missing=_NO_FILM,
        links=(("/genre_ids/0", GENRE_USES),),
    ),
    Operation(
        id="list_genres",
        tag="genres",
        path="/genres",
        description="The seven genres of the catalogue by name. The tags of the review board are another, finer set.",
        returns="Genres",
        handler=queries.list_genres,
        links=(("/genres/0/genre_id", GENRE_USES),),
    ),
    Operation(
        id="list_films_of_genre",
        tag="genres",
        path="/genres/{genre_id}/films",
        description="Ids of the films of one genre, in pages by year; with a year, those of that year alone.",
        parameters=(GENRE, YEAR_FILTER, *PAGING),
        returns="GenrePage",
        handler=queries.list_films_of_genre,
        missing="There is no genre of this id.",
        links=(("/films/0/film_id", FILM_USES),),
    ),
    Operation(
        id="list_films_of_year",
        tag="films",
        path="/years/{year}/films",
        description="All films of one year of release, in pages by title. A year has up to 2,200.",
        parameters=(YEAR, *PAGING),
        returns="YearPage",
        handler=queries.list_films_of_year,
        links=(("/films/0/film_id", FILM_USES),),
    ),
    Operation(
        id="find_films_by_runtime",
        tag="films",
        path="/years/{year}/runtimes",
        description=(
            "The films of one year whose length lies within bounds, both included, in pages from the shortest. Films "
            "of unknown length are left out."
        ),
        parameters=(YEAR, MIN_MINUTES, MAX_MINUTES, *PAGING),
        returns="RuntimePage",
        handler=queries.find_films_by_runtime,
        links=(("/films/0/film_id", FILM_USES),),
    ),
    Operation(
        id="get_certificate",
        tag="films",
        path="/certificates/{certificate_id}",
        description="The code of one certificate, as the MPAA rates films: PG, PG-13, R or NC-17.",
        parameters=(CERTIFICATE,),
        returns="Certificate",
        handler=queries.get_certificate,
        missing="There is no certificate of this id.",
    ),
)

BOX_OFFICE_OPERATIONS = (
    Operation(
        id="list_box_office",
        tag="box office",
        path="/box_office",
        description=(
            "Releases that there are box-office figures of, in pages from the oldest: the 23 films of the Marvel "
            "Cinematic Universe from 2008 to 2019. With a year, those released in it."
        ),
        parameters=(YEAR_FILTER, *PAGING),
        returns="ReleasePage",
        handler=queries.list_box_office,
        links=(("/releases/0/box_office_id", RELEASE_USES),),
    ),
    Operation(
        id="get_box_office",
        tag="box office",
        path="/box_office/{box_office_id}",
        description="What one release took: opening weekend and total in the USA, and total worldwide, in US dollars.",
        parameters=(RELEASE,),
        returns="BoxOffice",
        handler=queries.get_box_office,
        missing="There is no release of this id.",
        links=(("/film_id", FILM_USES),),
    ),
)
