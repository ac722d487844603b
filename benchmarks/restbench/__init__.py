"""RestBench (RestGPT): TMDB's and Spotify's tasks, asked against a mock that answers from their specifications."""
