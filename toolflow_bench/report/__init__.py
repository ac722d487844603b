"""A page that shows and compares runs of the bench: one HTML file that needs nothing else."""
