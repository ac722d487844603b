"""Reading from values: keys, items and attributes, and what is unpacked."""
