"""Settings of the template rankers, all of them settable by name."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

import msgspec

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.rankers.templates.features import GROUPS


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """How a template ranker learns; defaults were chosen on dev and by leaving one system out."""

    #: An expert for each system, weighed in each dialog by how well it foresees the replies; otherwise (and in the
    #: transductive ranker) one classifier of acts, and one that words them.
    experts: bool = True
    #: Penalties (L2) of what the experts share or of the classifier of acts, of what an expert has of its own, and of
    #: the classifier of templates that words an act.
    penalty: float = 3.0
    own_penalty: float = 10.0
    wording_penalty: float = 1.0
    #: Penalties of the filling: of weights that all templates share, and of a template's own.
    fill_penalty: float = 3.0
    fill_own_penalty: float = 10.0
    #: Templates of different systems that say the same count as one act (without experts).
    align: bool = True
    #: Cues that templates are classified without, separated by commas: words, state, bot, history.
    without: str = ""
    #: Dialogs to learn from.
    learn_from: Literal["trn", "trn+dev"] = "trn"

    @property
    def groups(self) -> list[str]:
        """The groups of cues that are used."""
        left_out = [name for name in self.without.split(",") if name]
        for name in left_out:
            if name not in GROUPS:
                raise DialgaugeError(f"there are no cues named '{name}'.{nearest(name, GROUPS)}")
        return [group for group in GROUPS if group not in left_out]

    @property
    def splits(self) -> list[str]:
        """The splits to learn from."""
        return self.learn_from.split("+")


def options_of(given: Mapping[str, str]) -> Options:
    """Options from texts such as ``{"penalty": "3"}``; unknown names and bad values are errors."""
    for name in given:
        if name not in Options.__struct_fields__:
            raise DialgaugeError(
                f"the template models have no setting '{name}'.{nearest(name, Options.__struct_fields__)}"
            )
    try:
        options = msgspec.convert(dict(given), Options, strict=False)
    except msgspec.ValidationError as error:
        raise DialgaugeError(f"a setting of the model has the wrong kind of value: {error}") from error
    penalties = [name for name in Options.__struct_fields__ if name.endswith("penalty")]
    if not all(0 < getattr(options, name) < math.inf for name in penalties):
        raise DialgaugeError(f"{', '.join(penalties[:-1])} and {penalties[-1]} must be above 0 and finite")
    options.groups  # noqa: B018 - names are checked here, not in the middle of training
    return options
