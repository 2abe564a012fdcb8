"""``python -m turnwise`` is the command line."""

from turnwise.cli import main

main()
