"""What `atc bench run` asks: the questions about flights, and ToolFlow's tasks."""
