"""Operations of the movies service on a festival programmer's desk; those that write are all here."""

from __future__ import annotations

from toolflow_bench.services.movies import desk as desk
from toolflow_bench.services.movies.links import FILM_USES
from toolflow_bench.services.movies.parameters import (
    COPIES,
    DAY,
    DAY_FILTER,
    FILM,
    FORMAT,
    HALL,
    PRIORITY,
    REASON,
    REVIEW,
    REVIEWER,
    STARS,
    START,
)
from toolflow_bench.services.operation import Operation

_NO_FILM = "There is no film of this id."

PROGRAMME_OPERATIONS = (
    Operation(
        id="list_film_watchlist",
        tag="desk",
        path="/watchlist",
        description="The films on the watchlist with their priorities, in the order they were added.",
        returns="Watchlist",
        handler=desk.list_film_watchlist,
        links=(("/items/0/film_id", FILM_USES),),
    ),
    Operation(
        id="add_to_watchlist",
        tag="desk",
        path="/watchlist",
        method="POST",
        description="Put a film on the watchlist with a priority, once; list_film_watchlist shows what is on it.",
        parameters=(FILM, PRIORITY),
        returns="WatchlistItem",
        verified_by="list_film_watchlist",
        handler=desk.add_to_watchlist,
        missing=_NO_FILM,
        conflict="The film is on the watchlist already.",
    ),
    Operation(
        id="list_own_ratings",
        tag="desk",
        path="/own_ratings",
        description="The ratings that one gave oneself, in the order that the films were first rated.",
        returns="OwnRatings",
        handler=desk.list_own_ratings,
        links=(("/ratings/0/film_id", FILM_USES),),
    ),
    Operation(
        id="rate_film",
        tag="desk",
        path="/own_ratings/{film_id}",
        method="PUT",
        description="Give a film a rating of one's own, 1 to 5 stars. A rating that there was before is replaced.",
        parameters=(FILM, STARS),
        returns="OwnRating",
        verified_by="list_own_ratings",
        handler=desk.rate_film,
        missing=_NO_FILM,
    ),
    Operation(
        id="list_screenings",
        tag="desk",
        path="/screenings",
        description=(
            f"The screenings planned for the festival of {desk.FIRST_DAY} to {desk.LAST_DAY}, by date, start and hall; "
            "with a date, those of that day. Each hall has three slots a day."
        ),
        parameters=(DAY_FILTER,),
        returns="Screenings",
        handler=desk.list_screenings,
        links=(("/screenings/0/film_id", FILM_USES),),
    ),
    Operation(
        id="schedule_screening",
        tag="desk",
        path="/screenings",
        method="POST",
        description="Plan a screening of a film in a slot of a hall. A slot takes one film; a film may have several.",
        parameters=(FILM, HALL, DAY, START),
        returns="Screening",
        takes_key=True,
        handler=desk.schedule_screening,
        missing=_NO_FILM,
        conflict="The slot is taken.",
    ),
    Operation(
        id="order_print",
        tag="desk",
        path="/print_orders",
        method="POST",
        description="Order prints of a film from the distributor, on film or digital. Each call is a new order.",
        parameters=(FILM, FORMAT, COPIES),
        returns="PrintOrder",
        takes_key=True,
        handler=desk.order_print,
        missing=_NO_FILM,
    ),
    Operation(
        id="send_recommendation",
        tag="desk",
        path="/recommendations",
        method="POST",
        description="Send a reviewer of the board a message that recommends a film. It goes out at once, each time.",
        parameters=(FILM, REVIEWER),
        returns="Recommendation",
        handler=desk.send_recommendation,
        missing="There is no film or no reviewer of this id.",
    ),
    Operation(
        id="report_review",
        tag="desk",
        path="/reports",
        method="POST",
        description="Report a review to the board's moderators with a reason. Reports are not shown to anybody else.",
        parameters=(REVIEW, REASON),
        returns="Report",
        handler=desk.report_review,
        missing="There is no review of this id.",
    ),
)
