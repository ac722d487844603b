"""Of several runs of a task at the same time, one reserves the task for its writes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

from tests.labs.stores import both_stores, open_store

TASK = 'Order "Émile" \\ 2 %_copies?\nNow.'


@both_stores
def test_one_of_simultaneous_runs_reserves_a_task(place: str) -> None:
    stores = [open_store(place) for _ in range(3)]
    runs = [store.create(TASK) for store in stores]
    stores[0].create("Another task.")

    def reserve(number: int) -> list[str]:
        found = stores[number].reservations.reserve(runs[number], beside=(), may_repeat=())
        return [run.run_id for run in found]

    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(reserve, range(3)))
    assert found.count([]) == 1
    first = runs[found.index([])]
    assert sorted(found) == [[], [first], [first]]
    assert {run.run_id for run in stores[0].reservations.runs_of(TASK)} == set(runs)
    for store in stores:
        store.close()


@both_stores
def test_an_allowed_repetition_is_remembered(place: str) -> None:
    with closing(open_store(place)) as store:
        first, second = store.create(TASK), store.create(TASK)
        reserve = store.reservations.reserve
        assert reserve(first, beside=(), may_repeat=()) == []
        assert [run.run_id for run in reserve(second, beside=(), may_repeat=())] == [first]
        assert reserve(second, beside=(), may_repeat=(first,)) == []
        assert reserve(second, beside=(), may_repeat=()) == []
