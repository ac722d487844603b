"""Follows HTTP redirects, but only to the same origin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final
from urllib.parse import urljoin

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
    with the same method. Other requests are redirected only by status 303, as a GET. If the last
    redirect was not followed, `trouble` of the response says why.
    """
    for _ in range(_MOST_REDIRECTS + 1):
        answer = send(request)
        if answer.status not in REDIRECTS or "location" not in answer.headers:
            return answer, request
        home, _ = split_url(request.url)
        try:
            target = urljoin(request.url, answer.headers["location"]).partition("#")[0]
            goal, _ = split_url(target)
        except ValueError:
            return replace(answer, trouble="the redirect leads to no http(s) address"), request
        if goal != home:
            trouble = (
                f"the redirect leads to another origin, {target};"
                " if you trust it, give that address yourself"
            )
            return replace(answer, trouble=trouble), request
        if request.method not in ("GET", "HEAD"):
            if answer.status != 303:
                return replace(
                    answer, trouble=f"a {request.method} is not sent on to {target}"
                ), request
            kept = {k: v for k, v in request.headers.items() if k != "Content-Type"}
            request = replace(request, method="GET", headers=kept, body=None)
        request = replace(request, url=target)
    return replace(answer, trouble=f"more than {_MOST_REDIRECTS} redirects"), request
