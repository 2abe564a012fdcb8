"""Was the job done in recorded conversations? What became of each task, by two rule sets."""
