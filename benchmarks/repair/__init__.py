"""Does repair pay, and which one: ways to go on from a program that failed, compared task by task."""
