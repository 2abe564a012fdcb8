"""Simulated users measured by GCDF1: constraints, requests, behaviours, and an explanation for every point lost.

``score`` scores single dialogues, ``evaluate`` whole sources, ``api`` is the face for Python. The rules of the measures
are in ``constraints`` (I-GCDF1) and ``requests`` (R-GCDF1); what they ask of a system turn is in ``signals``.
"""
