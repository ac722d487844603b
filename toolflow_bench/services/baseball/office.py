"""Operations of the baseball service that write, and those that show what was written."""

from __future__ import annotations

from toolflow_bench.services.baseball import desk as desk
from toolflow_bench.services.baseball.links import PLAYER_USES
from toolflow_bench.services.baseball.parameters import (
    CASH,
    CATEGORY,
    CHANNEL,
    DATE,
    GRADE,
    MINUTES,
    OCCASION,
    OFFERED,
    PARK,
    PLAYER,
    PRIORITY,
    PURPOSE,
    ROLE,
    SLOT,
    TEAM,
    WANTED,
)
from toolflow_bench.services.operation import Operation

_NO_PLAYER = "There is no player of this id."

OFFICE_OPERATIONS = (
    Operation(
        id="draft_player",
        tag="fantasy",
        path="/fantasy/picks",
        method="POST",
        description=(
            "Draft a player for the fantasy team, to fill a slot: C, 1B, 2B, 3B, SS, OF, DH, SP (starting pitcher) or "
            "RP (relief pitcher). A slot may be filled several times, a player drafted once."
        ),
        parameters=(PLAYER, SLOT),
        returns="Pick",
        takes_key=True,
        handler=desk.draft_player,
        missing=_NO_PLAYER,
        conflict="The player has been drafted already.",
    ),
    Operation(
        id="propose_trade",
        tag="fantasy",
        path="/fantasy/trades",
        method="POST",
        description="Propose to trade one player for another, with money on top where wanted, in US dollars.",
        parameters=(OFFERED, WANTED, CASH),
        returns="Trade",
        takes_key=True,
        handler=desk.propose_trade,
        missing="There is no player of one of the ids.",
        conflict="Both ids are the same player's.",
    ),
    Operation(
        id="watch_player",
        tag="watchlist",
        path="/watchlist/{player_id}",
        method="PUT",
        description=(
            "Put a player on the watchlist with a priority, 1 the most urgent to 5 the least. A player who is on it "
            "already keeps his entry and gets the new priority."
        ),
        parameters=(PLAYER, PRIORITY),
        returns="WatchEntry",
        verified_by="list_watchlist",
        handler=desk.watch_player,
        missing=_NO_PLAYER,
    ),
    Operation(
        id="list_watchlist",
        tag="watchlist",
        path="/watchlist",
        description="All players on the watchlist with their priorities, oldest entry first.",
        returns="Watchlist",
        handler=desk.list_watchlist,
        links=(("/entries/0/player_id", (*PLAYER_USES, ("unwatch_player", "player_id"))),),
    ),
    Operation(
        id="unwatch_player",
        tag="watchlist",
        path="/watchlist/{player_id}",
        method="DELETE",
        description="Take a player off the watchlist. Gives the entry that was removed.",
        parameters=(PLAYER,),
        returns="WatchEntry",
        verified_by="list_watchlist",
        handler=desk.unwatch_player,
        missing="The player is not on the watchlist.",
    ),
    Operation(
        id="book_interview",
        tag="press",
        path="/interviews",
        method="POST",
        description=(
            "Book an interview of 5 to 120 minutes with a player or manager, by phone, by video or in the studio. One "
            "for each person."
        ),
        parameters=(PLAYER, CHANNEL, MINUTES),
        returns="Interview",
        takes_key=True,
        handler=desk.book_interview,
        missing=_NO_PLAYER,
        conflict="There is an interview with this person already.",
    ),
    Operation(
        id="send_greeting",
        tag="press",
        path="/greetings",
        method="POST",
        description=(
            "Send a greeting to a team of a season, for a title, an anniversary or an opening. Every call sends one; "
            "greetings cannot be seen or taken back."
        ),
        parameters=(TEAM, OCCASION),
        returns="Greeting",
        handler=desk.send_greeting,
        missing="There is no team of this id.",
    ),
    Operation(
        id="schedule_visit",
        tag="visits",
        path="/visits",
        method="POST",
        description=(
            "Schedule a visit to a ballpark on a date, for scouting, a tryout, a ceremony or filming. One visit a "
            "ballpark and day."
        ),
        parameters=(PARK, DATE, PURPOSE),
        returns="Visit",
        verified_by="list_visits",
        handler=desk.schedule_visit,
        missing="There is no ballpark of this id.",
        conflict="The ballpark has a visit on that date already.",
    ),
    Operation(
        id="list_visits",
        tag="visits",
        path="/visits",
        description="All visits to ballparks that were scheduled, in the order in which they were.",
        returns="Visits",
        handler=desk.list_visits,
        links=(("/visits/0/park_id", (("get_park", "park_id"),)),),
    ),
    Operation(
        id="cast_vote",
        tag="poll",
        path="/poll/votes",
        method="POST",
        description=(
            "Cast a vote for a player or manager in the readers' poll. Every vote counts, also a second one for the "
            "same player; votes cannot be seen or taken back."
        ),
        parameters=(PLAYER, CATEGORY),
        returns="Vote",
        handler=desk.cast_vote,
        missing=_NO_PLAYER,
    ),
    Operation(
        id="file_report",
        tag="scouting",
        path="/scouting/reports",
        method="POST",
        description=(
            "File a scouting report on a player with an overall grade from 20 to 80. Reports go to the front office "
            "and cannot be seen or taken back."
        ),
        parameters=(PLAYER, ROLE, GRADE),
        returns="Report",
        handler=desk.file_report,
        missing=_NO_PLAYER,
    ),
)
