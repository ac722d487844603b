"""Types, events, settings and text handling that all packages of `atc` share."""
