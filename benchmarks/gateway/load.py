def measure(**k): return []
