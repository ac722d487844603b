"""SQLite databases of the services, built into the cache folder from installed wheels."""

from toolflow_bench.services.database import opaque_text


def test_opaque_ids_are_fixed():
    assert len(opaque_text(7, length=6)) == 6
    assert len({opaque_text(n) for n in range(1000)}) == 1000
