"""Opening pages in the person's browser."""

import webbrowser
from pathlib import Path
from urllib.parse import urlsplit

from atc.cli.browser import open_page


def test_the_browser_gets_no_secret_address(monkeypatch):
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda url, *_, **__: opened.append(url))
    open_page("http://127.0.0.1:1/secret")
    assert len(opened) == 1
    assert "secret" not in opened[0]
    assert "/secret" in Path(urlsplit(opened[0]).path).read_text()
