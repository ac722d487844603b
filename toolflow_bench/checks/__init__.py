"""Quality checks of tasks.

They derive each answer twice, and find tasks with too few calls, needless calls or nearly the same
wording as another task.
"""
