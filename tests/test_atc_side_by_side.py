"""Calls side by side: as many as allowed, all of them heard, and none waited for after Ctrl-C."""

import threading

import pytest

from atc.side_by_side import SideBySide


def test_every_call_is_made_and_no_more_at_once_than_allowed():
    running, most, lock = 0, 0, threading.Lock()
    together = threading.Barrier(3)

    def call(number):
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        if number < 3:
            together.wait(timeout=10)  # three are at work at the same time, or this breaks
        with lock:
            running -= 1
        return number

    with SideBySide(3) as threads:
        assert sorted(threads.map(call, range(20))) == list(range(20))
    assert most == 3


def test_nobody_waits_after_an_interrupt():
    hangs = threading.Event()

    def interrupted():
        with SideBySide(1) as threads:
            threads.submit(hangs.wait, 30)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not hangs.is_set()  # it was left at work
    hangs.set()
