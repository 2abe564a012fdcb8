"""``python -m dialgauge`` is the command line."""

from dialgauge.cli import main

main()
