from __future__ import annotations

from measures.toy import GCDF1, PRECISION

CARDS = (GCDF1, PRECISION)
