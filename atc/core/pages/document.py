"""Construction of a whole HTML page as one file that loads nothing from the network.

Its content security policy allows only the script and style that are part of the page.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from string import Template

from atc.core.pages.markup import Markup, escape_text
from atc.core.version import __version__


def build_page(
    body: Markup, *, title: str, made_by: str, package: str, skip: str, live: bool = False
) -> str:
    """Return an HTML page with `body`, and with the `style.css` and `script.js` of `package`.

    `made_by` is the command that made the page. `skip` is the id of the element to which the link
    for keyboard users jumps. If `live` is True, the page may send requests to the server that it
    came from; any other page may send none.
    """
    style = _asset("atc.core.pages", "base.css") + _asset(package, "style.css")
    script = _asset(package, "script.js")
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; "
        f"style-src '{_digest(style)}'; script-src '{_digest(script)}'"
    )
    return Template(_asset("atc.core.pages", "page.html")).substitute(
        policy=f"{policy}; connect-src 'self'; img-src 'self'" if live else policy,
        generator=escape_text(f"{made_by} {__version__}"),
        title=escape_text(title),
        skip=skip,
        style=style,
        script=script,
        body=body,
    )


def _asset(package: str, name: str) -> str:
    """Return the text of the file `name` in a package."""
    return (files(package) / name).read_text(encoding="utf-8")


def _digest(content: str) -> str:
    """Return the digest of a style or script, in the form that a content security policy uses."""
    return f"sha256-{b64encode(sha256(content.encode()).digest()).decode()}"
