"""What the source says by itself, whatever the types of its values."""
