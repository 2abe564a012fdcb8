"""Models that learn, in PyTorch (the extra ``neural``). Nothing outside this folder imports torch."""
