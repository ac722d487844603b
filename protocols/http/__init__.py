"""HTTP calls: requests, transport, and credentials."""
