"""Worlds whose tools do not say what they answer, as most tools in the wild: the same services, fewer facts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from protocols.protocol import ToolProtocol
from protocols.toolbox import Toolbox
from toolflow_bench.retooled import Retooled
from toolflow_bench.workers import OpenWorld, WorldLike


def without_responses(toolbox: Toolbox) -> Toolbox:
    """The tools without response schemas and without what is known only by these.

    Links go too, since they point into responses; so do the results of examples, and a verifying read that was
    guessed. What tools answer, and how a program gets it otherwise, stays: only, nothing is unwrapped.
    """
    return toolbox.map(lambda tool: replace(tool, protocol=_bare(tool.protocol)))


def bare(open_world: OpenWorld) -> OpenWorld:
    """Opens the same worlds, their tools without response schemas."""

    @contextmanager
    def opened() -> Iterator[WorldLike]:
        with open_world() as world:
            yield Retooled(world, without_responses(world.toolbox))

    return opened


def _bare(protocol: ToolProtocol) -> ToolProtocol:
    verified = protocol.verified_by
    return replace(
        protocol,
        output_schema=None,
        links=(),
        examples=tuple(replace(example, program="", result=None) for example in protocol.examples),
        evidence=replace(protocol.evidence, fields={}),
        verified_by=None if verified is not None and verified.support == "guessed" else verified,
    )
