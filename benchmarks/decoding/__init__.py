"""What decoding is worth, measured: calls of one model, free and held to its tools."""
