"""The version, in a module of its own so that every room can name it without importing the public API."""

__version__ = "0.3.0"
