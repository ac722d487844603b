"""Types, events, settings and text handling that all parts of the package `atc` share."""
