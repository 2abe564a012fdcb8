"""Replies as templates with slots: what to say is classified, what to fill in is chosen, both learned from dialogs."""
