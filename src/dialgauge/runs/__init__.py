"""The run store: every measurement is a folder with ``run.json`` and Parquet tables.

run = new_run(kind="tracking", name="augpt", scores=scores, corpus=dialogues, inputs=[("gold", "gold.json")])
stored = Store().add(run)
stored.scores["JGA"].value
stored.table("dialogue_scores")
"""

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.runs.annotations import Annotations as Annotations, DialogueNote as DialogueNote
    from dialgauge.runs.corpora import decode_corpus as decode_corpus, encode_corpus as encode_corpus
    from dialgauge.runs.manifest import (
        MANIFEST as MANIFEST,
        Input as Input,
        Manifest as Manifest,
        plain as plain,
        renamed as renamed,
    )
    from dialgauge.runs.provenance import (
        KEY_PACKAGES as KEY_PACKAGES,
        draft as draft,
        fingerprint as fingerprint,
        input_of_files as input_of_files,
        this_command as this_command,
        versions as versions,
        with_origin as with_origin,
    )
    from dialgauge.runs.ranking import WorstFirst as WorstFirst, worst_first as worst_first
    from dialgauge.runs.run import (
        Run as Run,
        SharedCorpus as SharedCorpus,
        new_run as new_run,
        packed_run as packed_run,
        run_in_memory as run_in_memory,
        unpacked_run as unpacked_run,
    )
    from dialgauge.runs.store import Store as Store, Survey as Survey
    from dialgauge.runs.tables import (
        FIXED as FIXED,
        GivenTable as GivenTable,
        Pieces as Pieces,
        TableInfo as TableInfo,
        calls_table as calls_table,
        check_columns as check_columns,
        check_fixed as check_fixed,
        check_table_name as check_table_name,
        coded as coded,
        column_of as column_of,
        empty_table as empty_table,
        frame_of as frame_of,
        frames_of as frames_of,
        is_table_name as is_table_name,
    )
    from dialgauge.runs.workspace import Parts as Parts, kept_to_the_end as kept_to_the_end


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
