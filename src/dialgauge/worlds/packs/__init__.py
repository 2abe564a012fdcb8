"""Domains that come with dialgauge, each a folder with its ``domain.yaml``."""
