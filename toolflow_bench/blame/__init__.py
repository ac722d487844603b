"""How often attribution blames the right call and path, where the truth is known because the fault was put there.

Faults are of two kinds: programs that are wrong (`toolflow_bench.mutants`) and services that are broken
(`toolflow_bench.blame.broken`).
"""
