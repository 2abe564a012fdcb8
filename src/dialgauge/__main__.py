"""``python -m dialgauge`` is the command line."""

from dialgauge.cli import program

program()
