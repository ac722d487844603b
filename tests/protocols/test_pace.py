"""How fast a service is called."""

import threading

import pytest

from protocols.pace import Pace, announced_pause


class Clock:
    """A clock that only moves when somebody sleeps."""

    def __init__(self):
        self.now = 100.0
        self.slept = []

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds

    def pace(self, *limits):
        return Pace(*limits, sleep=self.sleep, now=lambda: self.now)


def test_calls_keep_their_rate():
    clock = Clock()
    pace = clock.pace(2.0)
    for _ in range(3):
        pace.wait()
    assert clock.slept == [0.5, 0.5]


def test_a_service_that_always_asks_stops_nothing():
    clock = Clock()
    pace = clock.pace()
    for _ in range(50):
        pace.wait()
        pace.slow_down()
    assert max(clock.slept) == 8.0


def test_a_service_that_asks_is_called_slower():
    clock = Clock()
    pace = clock.pace()
    for _ in range(8):  # calls that were under way at the same time
        pace.slow_down()
        pace.pause(3.0)
    for _ in range(3):
        pace.wait()
    assert clock.slept == [3.0, 0.5, 0.5]
    for _ in range(400):
        pace.speed_up()
    pace.wait()
    pace.wait()
    assert clock.slept[-1] < 0.01


def test_a_pause_beyond_the_calls_time_is_ignored():
    clock = Clock()
    pace = clock.pace()
    pace.pause(60.0)
    pace.wait(most_seconds=30.0)
    assert clock.slept == []
    pace.wait(most_seconds=61.0)
    assert clock.slept == [60.0]


def test_only_so_many_calls_at_a_time():
    pace = Pace(None, 2)
    running, most, lock = [0], [0], threading.Lock()
    met = threading.Barrier(2)

    def call():
        with pace.call(most_seconds=30.0):
            with lock:
                running[0] += 1
                most[0] = max(most[0], running[0])
            met.wait(30)
            with lock:
                running[0] -= 1

    threads = [threading.Thread(target=call) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [2]


@pytest.mark.parametrize(
    ("headers", "pause"),
    [
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "12"}, 12.0),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1700000009"}, 9.0),
        ({"x-rate-limit-remaining": "0", "x-rate-limit-reset": "1700000009000"}, 9.0),
        ({"ratelimit-remaining": "0", "ratelimit-reset": "4"}, 4.0),
        ({"ratelimit": "limit=10, remaining=0, reset=5"}, 5.0),
        ({"ratelimit": '"burst";r=0;t=6'}, 6.0),
        ({"x-ratelimit-remaining": "3", "x-ratelimit-reset": "12"}, None),
        ({"x-ratelimit-remaining": "0"}, None),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "soon"}, None),
        ({}, None),
    ],
)
def test_headers_announce_a_pause(headers, pause):
    assert announced_pause(headers, now=lambda: 1_700_000_000.0) == pause
