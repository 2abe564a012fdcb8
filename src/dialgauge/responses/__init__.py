"""Room of its own; see docs/architecture.md."""
