"""Tests of state tracking, with the oracle they compare against."""
