"""What the operating system can put between a program and the machine. Standard library alone."""
