"""The acts MultiWOZ publishes beside its dialogues: ``system_acts.json``, ``dialogue_acts.json``, ``dialog_acts.json``.

==========  ==============================================================================================
2.0, 2.1    ``{"PMUL4648": {"1": {"Hotel-Inform": [["Area", "north"]]}, "2": "No Annotation"}}``
2.2         ``{"PMUL4648.json": {"0": {"dialog_act": {"Hotel-Inform": [["area", "north"]]}, "span_info": []}}}``
==========  ==============================================================================================

They are recognised and checked, so that a folder as it was downloaded can be read whole, but not put on the turns: in
2.1, 2.3 and 2.4 ``data.json`` has the same acts, and no measure needs those of the other versions.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import Notes, Resource, ResourceFormat
from dialgauge.formats.located import Keyed
from dialgauge.formats.peek import Peek
from dialgauge.formats.predictions import sample_dialogues, sample_turns
from dialgauge.formats.source import Part

_Acts: TypeAlias = dict[str, list[list[str]]]


class _Turn(msgspec.Struct, gc=False):
    dialog_act: _Acts


_BARE = Keyed(dict[str, _Acts | str])
_WRAPPED = Keyed(dict[str, _Turn])


class MultiWozActs(ResourceFormat):
    """The ids of the dialogues that have acts."""

    name = "multiwoz-acts"
    summary = "MultiWOZ system_acts.json, dialogue_acts.json, dialog_acts.json: checked, not put on the turns"
    kind = "acts"

    def recognise(self, peek: Peek) -> bool:
        turns = sample_turns(sample_dialogues(peek))
        annotated = [turn for turn in turns if isinstance(turn, dict) and turn]
        return (
            bool(annotated) and all(isinstance(turn, (dict, str)) for turn in turns) and all(map(_has_acts, annotated))
        )

    def load(self, part: Part, notes: Notes) -> Resource:
        content = part.read()
        shape = _WRAPPED if b'"dialog_act"' in content else _BARE
        found = [identifier for identifier, _ in shape.decode(content, part, notes)]
        if not found:
            raise DialgaugeError("it holds no acts", file=part.name)
        return Resource(kind="acts", texts=tuple(found))


def _has_acts(turn: dict[str, Any]) -> bool:
    acts = turn.get("dialog_act", turn)
    return isinstance(acts, dict) and all(
        "-" in name and isinstance(pairs, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in pairs)
        for name, pairs in acts.items()
    )
