"""How well each method of search finds the tools that queries need; `__main__.py` says how it is run."""
