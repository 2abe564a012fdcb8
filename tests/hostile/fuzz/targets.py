"""Everything that reads what others wrote: one target each, with sound content to damage and a way to have it read.

What is read is also used as the commands use it: dialogues are scored, tables printed, archives unpacked.
"""

from __future__ import annotations

from functools import cache

from hostile.fuzz.archives import archive_targets
from hostile.fuzz.commands import command_targets
from hostile.fuzz.dialogues import dialogue_targets
from hostile.fuzz.side_inputs import side_targets
from hostile.fuzz.stored_runs import store_targets
from hostile.fuzz.target import Target
from hostile.fuzz.yaml_files import yaml_targets

_ROOMS = (dialogue_targets, yaml_targets, archive_targets, side_targets, store_targets, command_targets)


@cache
def targets() -> dict[str, Target]:
    """All targets by name."""
    return {target.name: target for make in _ROOMS for target in make()}
