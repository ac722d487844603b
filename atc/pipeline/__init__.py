"""Steps of a run, in order: retrieve, synthesize, check, attribute, autofix, repair, doubts."""
