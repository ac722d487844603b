"""What makes a task fit to measure with: derived twice, long enough, no call for show, no two alike."""
