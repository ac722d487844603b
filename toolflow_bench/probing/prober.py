"""One probing as the bench does it, and what was known after any part of its calls."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from probing.document import document
from probing.effects.known import all_effects
from probing.facts import learn
from probing.links import observed_links
from probing.log import Log
from probing.output import write
from probing.pools import Pools
from probing.probe import probe
from probing.sample import Sample
from probing.settings import ProbeSettings
from protocols.files import write_whole
from protocols.invoke import Invoker, InvokeSettings
from protocols.protocol import ToolProtocol, dump
from protocols.sources import load_tools
from protocols.toolbox import Toolbox
from toolflow_bench.probing.part import Options

STRIPPED, PROTOCOLS = "stripped", "protocols"
"""Folders of a probing: what it was given, and what it gave."""


@dataclass(frozen=True, kw_only=True)
class Probing:
    """What was given, what was called, and what came of it. `rounds`: numbers of the rounds that there were."""

    given: Sequence[ToolProtocol]
    samples: Sequence[Sample]
    protocols: Mapping[str, ToolProtocol]
    rounds: tuple[int, ...]
    stopped: Mapping[str, str]
    seconds: float

    def after_round(self, number: int) -> dict[str, ToolProtocol]:
        """The protocols as they were known after a round."""
        return documented(self.given, [sample for sample in self.samples if sample.round <= number])

    def calls_until(self, number: int) -> int:
        """Calls sent up to the end of a round, as the prober counts them."""
        return sum(sample.round <= number for sample in self.samples)


def probe_settings(options: Options, *, writes: bool) -> ProbeSettings:
    """The settings of a measurement: those of any probing, but for the rate, since the services are our own."""
    return ProbeSettings(allow_writes=writes, per_tool=options.per_tool, requests_per_second=None, seed=options.seed)


def run_probing(given: Sequence[ToolProtocol], folder: Path, *, name: str, writes: bool, options: Options) -> Probing:
    """Probe the tools of `given` by calling them; everything is kept in `folder`, written as `atc probe` writes it.

    The tools are written down as one file each and read from there, as those of a person would be; nothing else of
    theirs reaches the prober. The data are public: values are kept as they are.
    """
    write_protocols(folder / STRIPPED, given)
    timeout = probe_settings(options, writes=writes).timeout_seconds
    invoke = InvokeSettings(retries=0, timeout_seconds=timeout)
    with Invoker(invoke) as invoker:
        toolbox = load_tools(f"{name}={folder / STRIPPED}", invoker=invoker)
        return _probe(toolbox, folder, writes=writes, options=options)


def probe_toolbox(toolbox: Toolbox, folder: Path, *, writes: bool, options: Options) -> Probing:
    """Probe the tools of `toolbox`, which need not be read from files; what they were is kept in `folder` too."""
    write_protocols(folder / STRIPPED, [tool.protocol for tool in toolbox.values()])
    return _probe(toolbox, folder, writes=writes, options=options)


def _probe(toolbox: Toolbox, folder: Path, *, writes: bool, options: Options) -> Probing:
    began = time.perf_counter()
    with Log(folder / PROTOCOLS) as log:
        settings = probe_settings(options, writes=writes)
        probed = probe(toolbox, log, settings=settings, ask=options.ask, sandbox=options.sandbox)
        samples = tuple(log.samples)
    written = write(folder / PROTOCOLS, probed, keep_values=True)
    return Probing(
        given=[tool.protocol for tool in toolbox.values()],
        samples=samples,
        protocols=written.protocols,
        rounds=tuple(one.number for one in probed.rounds),
        stopped=probed.stopped,
        seconds=time.perf_counter() - began,
    )


def documented(given: Iterable[ToolProtocol], samples: Sequence[Sample]) -> dict[str, ToolProtocol]:
    """The protocols that follow from these samples, by tool. No model has a say."""
    protocols = {protocol.name: protocol for protocol in given}
    facts = {name: learn(protocol, samples) for name, protocol in protocols.items()}
    pools = Pools(protocols.values())
    for sample in samples:
        if sample.done:
            pools.add(sample)
    links = observed_links(facts, pools)
    effects = all_effects(facts)
    return {name: document(facts[name], links=links, effects=effects[name], keep_values=True) for name in protocols}


def write_protocols(folder: Path, protocols: Iterable[ToolProtocol]) -> None:
    """One file a tool.

    Raises:
        CannotWrite: the folder cannot be written.
    """
    for protocol in protocols:
        text = json.dumps(dump(protocol), ensure_ascii=False, indent=2)
        write_whole(folder / f"{protocol.name}.json", text + "\n")
