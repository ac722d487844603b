"""Dense retrieval: documents as vectors, near to a query where the cosine is high.

`index.py` the ranker · `files.py` its files, memory-mapped · `lists.py` inverted lists for many documents.
"""

from atc.retrieve.dense.index import Dense

__all__ = ["Dense"]
