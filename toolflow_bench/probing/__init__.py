"""What probing finds out, held against what is true of services, fake tools and recordings."""
