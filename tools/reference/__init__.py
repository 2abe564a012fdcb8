"""The reference part of the documentation, made from the code when the site is built: see ``tools/docs_hook.py``."""
