"""Gold programs with one fault each: what a model gets wrong, with the truth about where it went wrong.

The truth is known from the edit and from a run of the gold program that tells where its values came from
(`toolflow_bench.mutants.probes`); attribution has no part in it.
"""

from __future__ import annotations

from toolflow_bench.mutants.make import mutants, pick
from toolflow_bench.mutants.mutant import MUTANT_KINDS, Mutant, MutantKind, Truth
from toolflow_bench.mutants.observe import Gold, NoObservation, observe
from toolflow_bench.mutants.run import Effect, MutantRun, run_mutant
from toolflow_bench.mutants.sample import draw_mutants

__all__ = [
    "MUTANT_KINDS",
    "Effect",
    "Gold",
    "Mutant",
    "MutantKind",
    "MutantRun",
    "NoObservation",
    "Truth",
    "draw_mutants",
    "mutants",
    "observe",
    "pick",
    "run_mutant",
]
