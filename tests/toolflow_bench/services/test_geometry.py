"""Great-circle distances, and queries for rows near a point."""

from toolflow_bench.services.geometry import kilometres


def test_distances_are_those_of_great_circles():
    assert round(kilometres(0, 0, 0, 0)) == 0
    assert round(kilometres(0, 0, 0, 90)) == 10008
    assert round(kilometres(40.64, -73.78, 51.47, -0.45), -2) == 5500.0
