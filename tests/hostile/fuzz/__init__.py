"""Fuzzing: damaged and hostile input for everything that reads, and for every command line.

``make fuzz SECONDS=3600 SEED=1`` runs it for long and stops by itself; ``test_fuzz.py`` runs a small, seeded form with
the other tests. A case is made from seed, target and number. The content of one that broke the rule is kept in a file,
and ``python -m hostile.fuzz --target TARGET --file FILE`` (in tests/) runs it again.

The rule is one for all targets: it works, or it raises the one user error; within ten seconds of computing, and within
one gigabyte of memory.
"""
