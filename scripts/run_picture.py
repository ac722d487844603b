"""Draw `docs/pictures/run.svg`: a terminal in which a program is run, blamed and repaired.

The model's replies are scripted. Everything else is real.
"""

import io
import re
from pathlib import Path

from rich.console import Console

from atc import Agent, load_tools
from atc.models.scripted import ScriptedModel
from atc.observe.terminal_view import RunView

TASK = "What do all copies in stock cost together?"
PROGRAM = (
    '```python\nbooks = list_books()\ntotal = sum(book["price"] * book["{}"] for book in '
    "books)\nprint(total)\n```"
)


def list_books() -> list[dict]:
    """All books of the shop.

    read_only = True
    """
    return [
        {"id": "b1", "title": "Emma", "price": 8.5, "stock": 4},
        {"id": "b3", "title": "Ulysses", "price": 12.0, "stock": 2},
    ]


console = Console(
    record=True,
    width=144,
    file=io.StringIO(),
    force_terminal=True,
    highlight=False,
    markup=False,
    emoji=False,
)
console.print(f'$ atc run "{TASK}" --tools shop.py', style="bold")
model = ScriptedModel(PROGRAM.format("copies"), PROGRAM.format("stock"), name="local")
with Agent(load_tools(list_books), model=model) as agent:
    view = RunView(console)
    solution = agent.run(TASK, observer=view)
    console.print(solution.answer, style="bold")
target = Path(__file__).parent.parent / "docs" / "pictures" / "run.svg"
picture = console.export_svg(title="atc", unique_id="run")
picture = re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)  # fonts from other hosts
target.write_text(picture, encoding="utf-8")
print(f"{target} written")
