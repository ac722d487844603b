"""Training data and reward for ToolQP's planner (Fang and Glass, §3.2, §3.3 and Appendix C)."""
