"""RestGPT's executor and what its modules are told; the planning is in `atc.strategies.restgpt`."""
