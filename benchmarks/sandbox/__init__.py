"""What each sandbox holds, runs and costs, by any folders of programs: `python -m benchmarks.sandbox --help`."""
