"""The command line. It wires everything together; each verb has a module."""
