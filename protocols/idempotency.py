"""The idempotency key of the call that is being made."""

from __future__ import annotations

from contextvars import ContextVar

idempotency_key: ContextVar[str | None] = ContextVar("idempotency_key", default=None)
"""The key sent with a call whose binding has an `idempotency_header`; set by the host, in the thread that calls."""
