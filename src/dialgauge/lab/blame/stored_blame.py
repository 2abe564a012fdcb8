"""Blame of a run that is given: kept with it, or found from its conversations where it was stored before that."""

from __future__ import annotations

from pathlib import Path

from dialgauge.errors import DialgaugeError
from dialgauge.lab.blame.attribution import blame_conversations
from dialgauge.lab.blame.blame_scores import BLAME, BLAME_SIDES, blame_frames, score_blame
from dialgauge.lab.lab_run import LAB_KIND, database_checksum
from dialgauge.lab.town_source import SYNTHETIC
from dialgauge.measures import Signature
from dialgauge.runs import Run, new_run
from dialgauge.tasks import judge_outcomes
from dialgauge.worlds.town import TownDatabase, TownSearch, generate_town, load_town, town_beside


def blamed_run(run: Run, *, database: str | Path | None = None, town_seed: int = 0, resamples: int = 1000) -> Run:
    """The run, with the tables of blame; a run that does not keep them needs the town that it took place in."""
    if run.kind != LAB_KIND:
        raise DialgaugeError(
            f"the run {run.id} is of kind {run.kind}; blame is for runs of 'dialgauge lab run', which are of kind "
            f"{LAB_KIND}"
        )
    if BLAME in run.tables and BLAME_SIDES in run.tables:
        return run
    town = _town(run, database, town_seed)
    search, held = TownSearch(town), list(run.dialogues())
    failures = run.manifest.config.get("failures", "live")
    judged = judge_outcomes(held, search, failures=failures, calls_recorded=True)
    blamed = blame_conversations(judged, search)
    return new_run(
        kind=LAB_KIND,
        name=run.name,
        scores=score_blame(blamed, resamples=resamples),
        tables=blame_frames(blamed),
        corpus=held,
        config=run.manifest.config,
        signature=run.signature,
    )


def _town(run: Run, database: str | Path | None, seed: int) -> TownDatabase:
    """The town of a run, checked against what its signature says of it."""
    if database is not None:
        town = load_town(database)
    elif run.manifest.config.get("goals") == SYNTHETIC:
        town = generate_town(seed)
    else:
        goals = next((one.path for one in run.manifest.inputs if one.role == "goals"), None)
        if goals is None or not Path(goals).exists():
            raise DialgaugeError(
                f"the run {run.id} was stored by a version without blame, and its goals have moved; name the "
                "folder of its database with --database"
            )
        town = town_beside(goals)
    wanted = Signature.parse(run.signature).get("database", "")
    if wanted and database_checksum(town) != wanted:
        raise DialgaugeError(
            f"the run {run.id} was stored by a version without blame, and it took place in a different town (checksum "
            f"{wanted}, here {database_checksum(town)}); name its own with --database, or with --town-seed where it is "
            "synthetic"
        )
    return town
