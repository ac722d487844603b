"""Valid arguments of each service's operations, drawn by those who know its data."""
