"""The retail shop of τ²-bench: tools of our own; records, tasks and policy are read from where the user has them."""
