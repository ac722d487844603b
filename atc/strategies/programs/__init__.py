"""What strategies that write programs share: an attempt, a program that grows, and how a run ends."""
