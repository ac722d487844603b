"""A run in a thread, for callers in an event loop."""

import asyncio

from atc.core.run_in_thread import run_in_thread


def test_events_of_a_thread_reach_the_observer():
    seen = []

    def work(observer):
        observer("begun")
        return 7

    assert (asyncio.run(run_in_thread(work, seen.append)), seen) == (7, ["begun"])
    assert asyncio.run(run_in_thread(work, None)) == 7
