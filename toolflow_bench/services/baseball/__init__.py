"""The baseball service: major-league players, teams, ballparks and honours from 1871 to 2020.

Records name other records by id, never by name, so that answers are found by carrying ids from call to call.
"""

from __future__ import annotations

from toolflow_bench.services.baseball.data import baseball_database
from toolflow_bench.services.baseball.events import EVENT_OPERATIONS
from toolflow_bench.services.baseball.office import OFFICE_OPERATIONS
from toolflow_bench.services.baseball.players import PLAYER_OPERATIONS
from toolflow_bench.services.baseball.schemas import SCHEMAS
from toolflow_bench.services.baseball.teams import FRANCHISE_OPERATIONS, TEAM_OPERATIONS
from toolflow_bench.services.operation import Operation
from toolflow_bench.services.service import Service

INFO = {
    "title": "Major-league baseball 1871 to 2020",
    "version": "1.0.0",
    "description": (
        "Players, managers, teams, franchises, ballparks, postseason series, awards, Hall of Fame votes, salaries and "
        "schools of the major leagues, and an office to draft, trade and report. A team has an id for each season."
    ),
}

OPERATIONS: tuple[Operation, ...] = (
    *PLAYER_OPERATIONS,
    *TEAM_OPERATIONS,
    *FRANCHISE_OPERATIONS,
    *EVENT_OPERATIONS,
    *OFFICE_OPERATIONS,
)

SERVICE = Service(name="baseball", info=INFO, operations=OPERATIONS, schemas=SCHEMAS, database=baseball_database)
