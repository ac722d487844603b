"""The parts of frames that are about files, as a hostile child may send them."""

import pytest

from sandbox.file_frames import FileRead, numbers_of_files, passed_files, read_request


def test_frames_of_the_right_shape_are_read():
    assert read_request([0, 5, 9]) == FileRead(0, 5, 9)
    assert passed_files([[["a", 0, "b"], 3]]) == ((("a", 0, "b"), 3),)
    assert numbers_of_files([0, 2]) == (0, 2)


@pytest.mark.parametrize("item", [None, [], [0, 1], [0, -1, 1], [True, 0, 1], [0, 0, 2**60], "abc"])
def test_other_reads_are_refused(item):
    assert read_request(item) is None


@pytest.mark.parametrize(
    "items",
    [None, [[[], 0]], [[[0], 0]], [[["a"], -1]], [["a", 0]], [[["a", 1.5], 0]], [[]] * 5000],
)
def test_other_places_are_refused(items):
    assert passed_files(items) is None


@pytest.mark.parametrize("items", [None, [-1], ["0"], [True], [0] * 5000, {"0": 1}])
def test_other_numbers_are_refused(items):
    assert numbers_of_files(items) is None
