"""SGD's official scores: per frame (one service in one user turn), over the slots of the service's schema.

Definitions follow the evaluation of the DSTC8 schema-guided track (Rastogi et al., AAAI 2020). MultiWOZ 2.2 numbers
are the same scores with ``matching="exact"`` and ``across_turn=True``.
"""
