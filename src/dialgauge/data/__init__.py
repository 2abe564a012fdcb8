"""Datasets and files: what can be fetched, what a file holds, what is wrong with it, and turning it into another."""
