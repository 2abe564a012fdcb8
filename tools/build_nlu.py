"""Train the NLU that the package brings along, and write it where it belongs.

Run it after templates, vocabulary or recipe change: ``python tools/build_nlu.py``. It takes about 20 seconds.
"""

from __future__ import annotations

from dialgauge.agents.speech import train_default
from dialgauge.agents.speech.nlu_default import SHIPPED

if __name__ == "__main__":
    train_default().save(SHIPPED)
