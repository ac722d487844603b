"""Training data and reward for ToolQP's planner (Fang and Glass, §3.2, §3.3 and Appendix C).

Reading order: `trajectory.py` Algorithm 1 for one query; `teacher.py` what the teacher is asked; `hints.py` what it is
told in which round; `suite.py` a whole data set, resumable; `reward.py` what reinforcement learning maximises.
"""
