"""The report of benchmark runs: one self-contained HTML page that shows and compares them."""
