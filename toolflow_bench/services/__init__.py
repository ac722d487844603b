"""The services of the benchmark: data, OpenAPI documents, and real HTTP servers on loopback."""
