"""Models that learn, in PyTorch (the extra ``neural``). Nothing but these and their rankers imports torch."""
