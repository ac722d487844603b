"""RestBench's TMDB tasks, call by call: is the gold path walked with names alone (ToolDec's table 5)?"""
