"""ToolFlow, the benchmark of the pipeline: services, tasks, runner and report."""
