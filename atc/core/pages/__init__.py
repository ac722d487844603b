"""HTML pages that atc shows in a browser: escaping, formatting of numbers, and whole pages."""
