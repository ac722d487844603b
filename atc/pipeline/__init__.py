"""The steps of a run in their order: retrieve, synthesize, check, attribute, autofix, repair, doubts."""
