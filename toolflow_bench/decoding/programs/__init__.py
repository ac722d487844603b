"""Whole programs, written freely and held to what may follow: questions about flights and short tasks of ToolFlow.

`ask.py` the questions and the two ways · `figures.py` what the rows come to · `suite.py` the suite
"""
