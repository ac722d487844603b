"""What the operating system can put between a program and the machine, each layer by itself. Standard library alone.

Nothing here knows of programs or tools: `sandbox.zygote` puts them on what runs programs.
"""
