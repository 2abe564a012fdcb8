"""Several trials of each task: how often an agent succeeds, how often every time, and how much of that is chance."""
