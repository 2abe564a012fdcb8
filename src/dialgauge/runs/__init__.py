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
    from dialgauge.runs.corpora import decode_corpus, encode_corpus
    from dialgauge.runs.kept import kept_to_the_end
    from dialgauge.runs.manifest import Input, Manifest, plain
    from dialgauge.runs.provenance import (
        KEY_PACKAGES,
        draft,
        fingerprint,
        input_of_files,
        this_command,
        versions,
        with_origin,
    )
    from dialgauge.runs.ranking import WorstFirst, worst_first
    from dialgauge.runs.resumable import Parts, Resumable
    from dialgauge.runs.run import Run, SharedCorpus, new_run, packed_run, run_in_memory, unpacked_run
    from dialgauge.runs.sql_process import LimitedAnswer
    from dialgauge.runs.store import Store, Survey
    from dialgauge.runs.tables import (
        FIXED,
        TableInfo,
        TableParts,
        check_columns,
        check_fixed,
        check_table_name,
        column_of,
        empty_table,
        frame_of,
        is_table_name,
    )
    from dialgauge.runs.writer import RunWriter

__all__ = [
    "FIXED",
    "KEY_PACKAGES",
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
    "WorstFirst",
    "check_columns",
    "check_fixed",
    "check_table_name",
    "column_of",
    "decode_corpus",
    "draft",
    "empty_table",
    "encode_corpus",
    "fingerprint",
    "frame_of",
    "input_of_files",
    "is_table_name",
    "kept_to_the_end",
    "new_run",
    "packed_run",
    "plain",
    "run_in_memory",
    "this_command",
    "unpacked_run",
    "versions",
    "with_origin",
    "worst_first",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
