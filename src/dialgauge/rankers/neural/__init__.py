"""Models that learn, in PyTorch (the extra ``neural``). Nothing else imports torch."""
