"""The services of the benchmark: real HTTP on loopback, each with data and an OpenAPI document."""
