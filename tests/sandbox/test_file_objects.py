"""The class `File` of programs."""

import io
import zipfile

import pytest

from sandbox.file_objects import File, make_file, note_files, place_files, take_files


class Reader:
    """A host that sends at most `step` bytes at once."""

    def __init__(self, data, step=7):
        self.data, self.step, self.noted = data, step, []

    def read_file(self, number, start, size):
        return self.data[start : start + min(size, self.step)]

    def note_file(self, number):
        self.noted.append(number)


def file(data, media="text/csv", step=7):
    described = {"name": "a.csv", "media_type": media, "size": len(data), "sha256": "x"}
    return make_file(Reader(data, step), 0, described)


@pytest.mark.parametrize("step", [1, 7, 1000])
def test_lines_are_those_of_any_system(step):
    assert list(file(b"a\r\nb\rc\n\nd", step=step).lines()) == ["a", "b", "c", "", "d"]
    assert list(file(b"", step=step).lines()) == []


@pytest.mark.parametrize("step", [1, 7, 1000])
def test_rows_are_dicts_of_csv(step):
    rows = file('id;näme\r\n1;ä\r\n2;"b\r\nc"\r\n'.encode(), step=step).rows()
    assert list(rows) == [{"id": "1", "näme": "ä"}, {"id": "2", "näme": "b\r\nc"}]
    assert (len(rows), rows[0]["id"], rows[-1]["id"], bool(rows)) == (2, "1", "2", True)
    assert [row["id"] for row in rows[:1]] == ["1"]


@pytest.mark.parametrize(
    ("data", "media", "text"),
    [
        ("ä".encode(), "text/plain", "ä"),
        ("\ufeffä".encode(), "text/plain", "ä"),
        ("ä".encode("utf-16"), "text/plain", "ä"),
        ("ä".encode("latin-1"), "text/plain; charset=iso-8859-1", "ä"),
        ("ä".encode(), "text/plain; charset=zlib", "ä"),
    ],
)
def test_a_text_is_decoded_as_declared(data, media, text):
    assert file(data, media).read_text() == text


def test_bytes_that_are_no_text_are_named():
    with pytest.raises(ValueError, match=r"a\.csv \(image/png, 2 bytes\) is not text"):
        file(b"\x89\xff", "image/png").read_text()


def test_other_modules_read_a_stream():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("x", "y" * 1000)
    assert zipfile.ZipFile(file(packed.getvalue()).open()).read("x") == b"y" * 1000


@pytest.mark.parametrize(
    "use", [lambda f: f["id"], list, len, lambda f: f.read(), lambda _: File("a", b"x")]
)
def test_a_wrong_use_says_what_works(use):
    with pytest.raises((TypeError, AttributeError), match=r"read_text|text, or a File"):
        use(file(b"x"))


def test_a_preview_has_the_first_lines_of_text():
    assert file(b"a\nb", step=100).preview()["first_lines"] == ["a", "b"]
    assert "first_lines" not in file(b"\x89\0", "image/png").preview()


def test_files_are_placed_and_taken_by_path():
    described = {"name": "a", "media_type": "x/y", "size": 1, "sha256": "x"}
    value = place_files(
        Reader(b""), {"rows": [{"f": described}, described]}, [[["rows", 0, "f"], 4]]
    )
    assert value["rows"][1] is described
    rest, files = take_files({"all": (1, value["rows"][0]["f"])})
    assert (rest, files) == ({"all": [1, None]}, [[["all", 1], 4]])


def test_a_printed_file_is_noted():
    one = file(b"x")
    note_files({"a": [one]})
    assert f"{one}" == "a.csv (text/csv, 1 bytes)"
    assert one._reader.noted == [0, 0]
