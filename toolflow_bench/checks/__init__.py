"""Quality checks of tasks: answers derived twice, enough calls, no needless call, no
near-duplicates.
"""
