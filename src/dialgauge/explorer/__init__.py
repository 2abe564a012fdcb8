"""The run store as web pages, and as one file to mail: runs, their dialogues, and which of them is better."""

from __future__ import annotations
