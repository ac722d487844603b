"""Limits on what the clients of a gateway may use."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class GatewayLimits:
    """Limits on programs, waiting requests and questions of the clients of a gateway."""

    run_seconds: float = 120.0
    """Wall time of one program in seconds, including the time in which it waits for tools."""
    programs: int = 16
    """Maximum number of programs of all clients that run at the same time. Others wait."""
    programs_each: int = 10
    """Maximum number of programs of one client that run at the same time."""
    waiting_each: int = 100
    """Maximum number of requests of one client that may wait. Further ones are refused."""
    questions: int = 32
    """Maximum number of questions to persons that are open at the same time, for all clients."""
    questions_each: int = 8
    """Maximum number of open questions of one client.

    One more ends the question that has been open longest, and pauses its run.
    """
