"""``dialgauge data check``: what is this, what is in it, what is wrong with it."""
