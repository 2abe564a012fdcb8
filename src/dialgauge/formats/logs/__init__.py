"""Logs of agents as people have them: one module per family of files, and one way from messages to turns."""
