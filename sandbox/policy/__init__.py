"""A source policy: reads a program and refuses, with the place and a way out, what only attacks need.

It turns an attack, and an honest mistake such as `import requests`, into a clear message before anything runs. It is
never the boundary: what a program computes at run time it cannot see. `sandbox.zygote` and `sandbox.docker` hold a
hostile program; this tells its author.
"""

from __future__ import annotations

from functools import lru_cache

from sandbox.policy.policed import Policed
from sandbox.policy.violation import Violation, render

__all__ = ["Policed", "Violation", "render", "review"]


@lru_cache(maxsize=256)
def review(source: str) -> tuple[Violation, ...]:
    """What `source` does against the policy, in order of place; empty where it may run.

    Pure, and never raises. A source that Python cannot parse has no violations: that is for the run to tell.
    """
    from sandbox.policy.reviewer import review_source  # RestrictedPython takes 30 ms to import

    return review_source(source)
