"""Learn tools by calling them (`probing.probe`): samples of calls, values of arguments, links between tools."""
