"""The airline of τ-bench: tools of our own; records, tasks and policy are read from where the user has them."""
