"""Services that a benchmark acts on: real HTTP on loopback, one file a domain, each with its own OpenAPI document."""
