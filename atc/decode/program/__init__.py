"""A program's next statement as a grammar, made anew after every statement from what is in scope.

The subset of Python that is derived, one line at a time (anything else is refused, whatever a model would prefer):

- calls of the tools: keyword arguments in any order, all required ones, each a literal that its schema accepts or a
  variable or place in a response whose type does; an f-string for a plain text. An argument whose values some tool
  yields, or an id that nobody knows by heart, takes what stands where such values do, or under its own name or
  pattern, or what is of unknown origin, or what a call within the call gives, `f(id=g(q="x")[0]["id"])`; of literals
  only what the task gives, but for dates, measures and flags. Where there is nothing, it waits;
- `x = …`, `a, b = …`, `x += …`, `xs.append(…)`, `.extend`, `.add`, `d[key] = …`, `d[key] = d.get(key, 0) + …`,
  `print(…)`, `import json` (for `json.dumps`); one comment line, a step of its own;
- `for x in` a list in scope, a call, a sorted or sliced list, `range`, a list written out, a dict's keys;
  `for i, x in enumerate(…)`, `.items()`; `if`, `elif`, `else`, `while`; `try` with `except ToolError`; `break`,
  `continue`, `pass`, `raise` where they make sense. `while True` is not left before it has a `break`;
- places: keys that the response schema has, constant indices, four subscripts deep; any key where the schema
  is missing; a dict that the program fills under a variable;
- numbers with `+ - * / // %`, `len sum min max round abs int float`; texts with `+`, `.lower()` and the like, slices,
  f-strings, `.join`; tests that compare like with like, `in`, `is None`, `and`, `or`, `not`; `a if test else b`;
- one level of comprehension, generators in `sum`, `min`, `max`, `any`, `all`, `next`; `max(xs, key=lambda x: …)`,
  `sorted(…)`. The names for an item are ours, two of these: what its list is called (`rookie` of `rookies`),
  the response's noun (`player` of `players`), a letter;
- a value that may be None only where None does no harm, until a test has ruled it out.

The end may come where an answer is printed on every way. What the steps derive is free of findings of `atc.check`;
blocks, operands, texts, numbers and the whole are bounded.

`places.py` what can be read in a value · `view.py` what can be read at a point · `given.py` what a task gives ·
`arguments.py`, `calls.py` calls of tools · `terms.py` expressions · `alike.py` which texts may be equal ·
`comparisons.py` tests · `items.py` the items of lists · `each.py` expressions over them · `values.py` whatever a
variable may be given · `lines.py` the statements of one block · `answers.py` whether an answer is printed ·
`statements.py` the step from a program to what may follow · `nodes.py` putting grammars together.
"""

from atc.decode.program.statements import FENCE, Statements, Step

__all__ = ["FENCE", "Statements", "Step"]
