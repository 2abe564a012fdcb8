"""Prediction files of state trackers and end-to-end systems."""
