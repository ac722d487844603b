"""Ways to solve a task, one file each, one function of the same shape."""
