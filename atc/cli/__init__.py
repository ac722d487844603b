"""The command line: wires everything; one file a verb."""
