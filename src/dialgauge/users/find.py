"""Conversations of a run by what happened in them: the filters of its view, under the names of the tables."""

from __future__ import annotations

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.report import Page, dialogue_list
from dialgauge.runs import Run
from dialgauge.users.labels import meaning, whole_label
from dialgauge.users.verdicts import CAUSES, VERDICTS
from dialgauge.users.views import ENDS, mentions

_SHOWN = 20


def find_conversations(
    run: Run,
    *,
    behaviour: str = "",
    verdict: str = "",
    cause: str = "",
    domain: str = "",
    slot: str = "",
    end: str = "",
) -> Page:
    """The conversations for which everything holds; all but the end hold for the same mention."""
    if run.kind != "users":
        raise DialgaugeError(f"run {run.id} is not a run of 'dialgauge users score'")
    for name, value, known in (("verdict", verdict, VERDICTS), ("cause", cause, CAUSES), ("end", end, ENDS)):
        if value and value not in known:
            raise DialgaugeError(f"there is no {name} '{value}'.{nearest(value, known)}")
    frame = mentions(run)
    for name, value in (("domain", domain), ("slot", slot)):
        if value and value not in frame[name]:
            raise DialgaugeError(
                f"no conversation has the {name} '{value}'.{nearest(value, frame[name].drop_nulls().unique())}"
            )
    asked = {
        "behaviour": meaning(whole_label(behaviour)) if behaviour else "",
        "verdict": verdict,
        "cause": cause,
        "domain": domain,
        "slot": slot,
        "end": ENDS[end].text if end else "",
    }
    only = {name: value for name, value in asked.items() if value}
    dialogues = dialogue_list(run)
    names = dialogues.matching(only)
    table = dialogues.table(names, only, first=_SHOWN)
    return Page(title=run.name, runs=[run.id], verdict=dialogues.answer(names, only), tables={"dialogues": table})
