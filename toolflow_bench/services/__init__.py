"""The services of the benchmark. Each has data, an OpenAPI document, and real HTTP on loopback."""
