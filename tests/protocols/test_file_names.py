"""Names and media types of files, which a service chooses."""

import pytest

from protocols.file_names import attachment, name_for, numbered, safe_name


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("report.pdf", "report.pdf"),
        ("../../.bashrc", "bashrc"),
        ("/etc/passwd", "passwd"),
        ("C:\\Windows\\x.dll", "x.dll"),
        ("a\uff0f..\uff0fb.txt", "b.txt"),  # slashes of full width
        ("a\0b.txt", "ab.txt"),
        ("a\r\nSet-Cookie: x.pdf", "aSet-Cookie_ x.pdf"),
        ("rep\u202efdp.exe", "repfdp.exe"),  # the direction of writing is reversed
        ("\ud800x.txt", "x.txt"),
        ("CON", "_CON"),
        ("nul.txt", "_nul.txt"),
        ("COM1.tar.gz", "_COM1.tar.gz"),
        ("-rf", "rf"),
        ("~root", "root"),
        ("..", "file"),
        ("", "file"),
    ],
)
def test_a_name_is_one_harmless_component(name, safe):
    assert safe_name(name) == safe


def test_a_long_name_keeps_its_ending():
    assert len(safe_name("x" * 5000 + ".pdf")) == 120
    long = safe_name("ü" * 5000 + ".tar.gz")
    assert long.endswith(".tar.gz")
    assert len(long.encode()) <= 200


def test_a_number_stands_before_the_ending():
    assert numbered("report.pdf", 2) == "report-2.pdf"
    assert numbered("a.tar.gz", 3) == "a-3.tar.gz"
    assert numbered("README", 2) == "README-2"


@pytest.mark.parametrize(
    ("disposition", "url", "media", "name"),
    [
        ('attachment; filename="a b.pdf"', "", "", "a b.pdf"),
        ("attachment; filename=x.pdf; filename*=UTF-8''na%C3%AFve.pdf", "", "", "naïve.pdf"),
        ("attachment; filename*=UTF-8''..%2F..%2F.bashrc", "", "", "bashrc"),
        ("", "https://a.example/v1/report.csv?x=1", "", "report.csv"),
        ("", "https://a.example/exports/5", "text/csv", "export.csv"),
        ("", "https://a.example/exports/5", "image/png", "export.png"),
    ],
)
def test_a_name_comes_from_header_address_or_tool(disposition, url, media, name):
    assert name_for(disposition=disposition, url=url, media_type=media, tool="export") == name


def test_a_name_cannot_leave_its_header():
    header = attachment('a"; x="b\\\r\nSet-Cookie: é.pdf')
    assert "\r" not in header
    assert header.count('"') == 2
    assert header.endswith("%C3%A9.pdf")
