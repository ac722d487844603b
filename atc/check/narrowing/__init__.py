"""What tests and turns of a loop leave known of the values in them."""
