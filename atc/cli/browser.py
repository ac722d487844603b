"""Opening pages in the user's browser."""

from __future__ import annotations

import atexit
import html
import shutil
import tempfile
import webbrowser
from functools import partial
from pathlib import Path

import click


def open_page(address: str) -> None:
    """Open an address in the browser, without showing it to other users of this machine.

    The address may contain a secret, and every user can read the arguments of a browser's process.
    So the browser opens a file that only this user can read; its page redirects to the address. The
    file is removed when the command ends.
    """
    folder = Path(tempfile.mkdtemp(prefix="atc-"))  # readable for this user only
    # A thread that opens a sign-in page has no click context.
    context = click.get_current_context(silent=True)
    call_at_end = atexit.register if context is None else context.find_root().call_on_close
    call_at_end(partial(shutil.rmtree, folder, ignore_errors=True))
    url = html.escape(address)
    file = folder / "open.html"
    page = (
        '<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">'
        f'<title>atc</title><meta http-equiv="refresh" content="0;url={url}">'
        f'<a href="{url}">Go on to the page</a>\n'
    )
    file.write_text(page, encoding="utf-8")
    webbrowser.open(file.as_uri())
