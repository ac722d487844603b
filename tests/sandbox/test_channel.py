"""The channel between a program and its host."""

from __future__ import annotations

import pytest

from sandbox import channel
from sandbox.zygote import unavailable

pytestmark = pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))


def test_old_replies_are_let_go_of():
    replies = channel.RecentReplies()
    for number in range(10):
        replies.keep({"id": number, "value": [number]}, channel.KEPT_REPLY_BYTES // 4)
    assert [number for number, _ in replies.newest_first()] == [9, 8, 7, 6]
