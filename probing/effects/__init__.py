"""What calling a tool does to the world: from its method, its name, and reads before and after it."""
