"""Services, tasks, runner and report that measure the pipeline."""
