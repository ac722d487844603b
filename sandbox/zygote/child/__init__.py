"""Code that runs in the same process as a program.

It cannot protect the host, because the program can reach and change all of it. It uses the standard
library, `sandbox.channel` and `sandbox.frames` alone.
"""
