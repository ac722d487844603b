"""Let a language model act on APIs by writing one dependable program."""
