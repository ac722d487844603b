"""AnyToolBench (Du et al., A.8 and B.4): queries over several categories, each with a verified solution."""
