"""Code that runs in the same process as a generated program.

It cannot protect the host, because the program can read and change all of this code. The modules
import only the standard library, `sandbox.channel` and `sandbox.frames`.
"""
