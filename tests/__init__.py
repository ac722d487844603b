"""The tests; a package, so that no installed package named `tests` hides the labs from scripts and benchmarks."""
