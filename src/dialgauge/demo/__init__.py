"""``dialgauge demo``: a first experience on a world simulated on the spot; nothing is downloaded."""
