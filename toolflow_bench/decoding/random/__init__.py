"""Calls and programs decoded with random logits over random schemas and real tools: nothing may be invalid or endless.

`schemas.py` random tools (`drafts.py`, `patterns.py`, `composed.py`, `broken.py`) · `sources.py` real ones ·
`samplers.py` what stands for a model · `calls.py`, `programs.py` decoding · `judge.py` knows no grammar · `suite.py`
the figures
"""
