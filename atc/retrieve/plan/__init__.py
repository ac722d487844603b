"""ToolQP (Fang and Glass): a plan, its sub-goals, and search queries one at a time, each written with what was found.

Reading order: `toolqp.py` the search; `steps.py` what passes between it and a planner; `prompted.py` a planner on any
model; `trained.py` one that was trained for it, in the conversations of `conversation.py`; `aggregate.py` one ranking
out of many.
"""

from atc.retrieve.plan.prompted import PromptedPlanner
from atc.retrieve.plan.steps import Plan, Planner, Step, Turn
from atc.retrieve.plan.toolqp import Options, ToolQP
from atc.retrieve.plan.trained import TrainedPlanner

__all__ = ["Options", "Plan", "Planner", "PromptedPlanner", "Step", "ToolQP", "TrainedPlanner", "Turn"]
