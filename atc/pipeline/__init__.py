"""The steps of a run: retrieve, synthesize, check, attribute, autofix, repair and doubts."""
