"""Is a log what it says, do its verdicts replay, and were its tasks fair? Told without any model."""
