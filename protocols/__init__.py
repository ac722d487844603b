"""What a tool is, where it comes from, how it is called."""
