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
    from dialgauge.runs.manifest import (
        MANIFEST as MANIFEST,
        Input as Input,
        plain as plain,
        renamed as renamed,
    )
    from dialgauge.runs.provenance import (
        fingerprint as fingerprint,
        versions as versions,
    )
    from dialgauge.runs.ranking import worst_first as worst_first
    from dialgauge.runs.run import (
        Run as Run,
        SharedCorpus as SharedCorpus,
        new_run as new_run,
        packed_run as packed_run,
        unpacked_run as unpacked_run,
    )
    from dialgauge.runs.store import Store as Store
    from dialgauge.runs.tables import (
        FIXED as FIXED,
        GivenTable as GivenTable,
        Pieces as Pieces,
        calls_table as calls_table,
        coded_column as coded_column,
        frame_from_rows as frame_from_rows,
    )
    from dialgauge.runs.workspace import Parts as Parts


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
