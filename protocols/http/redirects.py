"""Follows HTTP redirects, but only to the same origin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Final
from urllib.parse import parse_qsl, unquote, urljoin, urlsplit

from protocols.http.request import HttpRequest
from protocols.response import Answer
from protocols.urls import split_url

_MOST_REDIRECTS = 5
REDIRECTS: Final = (301, 302, 303, 307, 308)


def follow_redirects(
    request: HttpRequest, send: Callable[[HttpRequest], Answer]
) -> tuple[Answer, HttpRequest]:
    """Send a request and follow redirects within its origin.

    Return the last response and the request that led to it. GET and HEAD requests are redirected
    with the same method. Other requests are redirected by status 303, as a GET, and once by status
    307 or 308, with their method and body, to the same address with a slash at its end (or without
    it). If the last redirect was not followed, `trouble` of the response says why.
    """
    sent_on = False
    for _ in range(_MOST_REDIRECTS + 1):
        answer = send(request)
        if answer.status not in REDIRECTS or "location" not in answer.headers:
            return answer, request
        home, _ = split_url(request.url)
        try:
            target = urljoin(request.url, answer.headers["location"]).partition("#")[0]
            goal, rest = split_url(target)
        except ValueError:
            return replace(answer, trouble="the redirect leads to no http(s) address"), request
        if goal not in home.names:
            trouble = (
                f"the redirect leads to another origin, {target};"
                " if you trust it, give that address yourself"
            )
            return replace(answer, trouble=trouble), request
        target = f"{home.url}{rest}"
        if request.method in ("GET", "HEAD"):
            request = replace(request, url=target)
        elif answer.status == 303:
            kept = {k: v for k, v in request.headers.items() if k != "Content-Type"}
            request = replace(request, method="GET", url=target, headers=kept, body=None)
        elif _moves_by_slash(answer, request.url, target) and not sent_on:
            sent_on = True
            request = replace(request, url=_with_other_slash(request.url))
        else:
            trouble = (
                f"a {request.method} is not sent on to {target};"
                " if that is its right address, write it into the tool's document"
            )
            return replace(answer, trouble=trouble), request
    return replace(answer, trouble=f"more than {_MOST_REDIRECTS} redirects"), request


def _moves_by_slash(answer: Answer, url: str, target: str) -> bool:
    """Return True if a redirect repeats a request where only a slash at the path's end differs.

    The statuses 307 and 308 keep method and body, and say that nothing was done. `target` may have
    further query parameters: credentials that were sent, but are not in `url`.
    """
    old = urlsplit(url)
    new = urlsplit(target)
    wanted = urlsplit(_with_other_slash(url)).path
    kept = Counter(parse_qsl(old.query, keep_blank_values=True))
    return (
        answer.status in (307, 308)
        and unquote(new.path) == unquote(wanted)
        and kept <= Counter(parse_qsl(new.query, keep_blank_values=True))
    )


def _with_other_slash(url: str) -> str:
    """Return a URL with a slash added at the end of its path, or removed if there is one."""
    path, mark, query = url.partition("?")
    path = path.removesuffix("/") if path.endswith("/") else f"{path}/"
    return f"{path}{mark}{query}"
