"""The run store: every measurement is a folder with ``run.json`` and Parquet tables.

store = Store()
with store.create(kind="tracking", name="augpt", inputs=["gold.json", "augpt.json"], seed=0) as run:
    run.table("dialogue_scores", frame)
    run.scores = {"JGA": 0.55}
store.open(run.id).table("dialogue_scores")
"""

from dialgauge.runs.manifest import Input, Manifest, TableInfo, plain
from dialgauge.runs.reader import Run
from dialgauge.runs.resumable import Parts, Resumable
from dialgauge.runs.store import Store, Survey
from dialgauge.runs.writer import RunWriter

__all__ = ["Input", "Manifest", "Parts", "Resumable", "Run", "RunWriter", "Store", "Survey", "TableInfo", "plain"]
