"""The run store: every measurement is a folder with ``run.json`` and Parquet tables.

run = new_run(kind="tracking", name="augpt", scores=scores, corpus=dialogues, inputs=[("gold", "gold.json")])
stored = Store().add(run)
stored.scores["JGA"].value
stored.table("dialogue_scores")
"""

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.runs.annotations import Annotations, DialogueNote
    from dialgauge.runs.kept import kept_to_the_end
    from dialgauge.runs.manifest import Input, Manifest, plain
    from dialgauge.runs.parcel import packed_run, unpacked_run
    from dialgauge.runs.provenance import input_of_files
    from dialgauge.runs.resumable import Parts, Resumable
    from dialgauge.runs.run import Run, SharedCorpus, new_run
    from dialgauge.runs.sql_process import LimitedAnswer
    from dialgauge.runs.store import Store, Survey
    from dialgauge.runs.tables import FIXED, TableInfo, TableParts, column_of, frame_of
    from dialgauge.runs.writer import RunWriter

__all__ = [
    "FIXED",
    "Annotations",
    "DialogueNote",
    "Input",
    "LimitedAnswer",
    "Manifest",
    "Parts",
    "Resumable",
    "Run",
    "RunWriter",
    "SharedCorpus",
    "Store",
    "Survey",
    "TableInfo",
    "TableParts",
    "column_of",
    "frame_of",
    "input_of_files",
    "kept_to_the_end",
    "new_run",
    "packed_run",
    "plain",
    "unpacked_run",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
