"""Does repair pay, and which one: ways to go on from a program that failed, compared task by task.

The first program of a task is the same in every arm (a faulty one that was made, or the model's own first), so that
arms differ in nothing but what comes after it. One sample a round, three repairs at most, writes allowed.

- `traceback`: a plain code agent. The program runs unchecked; the model reads Python's traceback; the next program runs
  all calls again.
- `reflection`: the same, with the paper's attributable reflection (section 3.3).
- `none`: the first program alone, unchecked.
- `facts`: atc as it is: checked, mended and run with a journal; the model reads what attribution found.
- `atc-traceback`, `atc-reflection`: atc in all but what the model reads.
"""
