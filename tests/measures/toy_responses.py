from __future__ import annotations

from measures.toy import HITS, PASS

CARDS = (HITS, PASS)
