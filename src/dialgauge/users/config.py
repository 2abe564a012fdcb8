"""Every option of GCDF1, with the reference evaluator's names and defaults, from YAML and dotted overrides.

Unknown keys are refused with the nearest name, so that a misspelt option never scores with its default in silence.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, get_args

import msgspec
from msgspec import Meta, Struct, field

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.yaml_file import as_record, merged, parse_yaml, read_yaml

Mode: TypeAlias = Literal["reference", "recommended"]

#: A number of turns or mentions.
Number: TypeAlias = Annotated[int, Meta(ge=0, le=10**9)]
#: A similarity, from 0 to 1.
Share: TypeAlias = Annotated[float, Meta(ge=0.0, le=1.0)]

MODES: tuple[str, ...] = get_args(Mode)
#: Where the evaluator's defaults name domains and slots of MultiWOZ.
_MULTIWOZ: dict[str, Any] = msgspec.json.decode(Path(__file__).with_name("reference_defaults.json").read_bytes())


class SystemRequestBehaviour(Struct, frozen=True, forbid_unknown_fields=True):
    """Which of the system's behaviours may excuse a repeated request."""

    validate_nlu: bool = True
    validate_policy: bool = True


class RequestRepetitions(Struct, frozen=True, forbid_unknown_fields=True):
    """``repeats_to_penalty`` is the highest repetition (1st, 2nd, ...) that can be forgiven.

    Without ``count_fp`` each request counts once.
    """

    count_fp: bool = True
    system_behaviour: SystemRequestBehaviour = SystemRequestBehaviour()
    repeats_to_penalty: Number = 3


class MissingRequests(Struct, frozen=True, forbid_unknown_fields=True):
    """Whether information the system gave unasked counts as requested, and in which domains (``*``: in all)."""

    system_provision: bool = True
    provision_domains: tuple[str, ...] = tuple(_MULTIWOZ["provision_domains"])


class RequestOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """Options of R-GCDF1.

    ``auto_add_to_ref``: reference numbers that may be asked for after a booking. ``repetitions_warning``:
    what is repeated more often is recorded; it has no effect on scores.
    """

    repetitions_warning: Number = 4
    repetitions: RequestRepetitions = RequestRepetitions()
    missing_requests: MissingRequests = MissingRequests()
    auto_add_to_ref: tuple[str, ...] = tuple(_MULTIWOZ["auto_add_to_ref"])


class SystemRepetitionChecks(Struct, frozen=True, forbid_unknown_fields=True):
    """System behaviours that excuse a repeated constraint."""

    requests: bool = True
    booking_failure_response: bool = True
    no_offers: bool = True
    nlu: bool = True


class UserRepetitionChecks(Struct, frozen=True, forbid_unknown_fields=True):
    """User behaviours that excuse a repeated constraint."""

    offer_checks: bool = True
    repeats_while_requesting_info: bool = True
    repeats_while_booking: bool = True
    repeats_when_answering_request: bool = True
    proposes_multiple_domains: bool = True


class ConstraintRepetitions(Struct, frozen=True, forbid_unknown_fields=True):
    """``max_repetitions`` is the highest repetition (1st, 2nd, ...) that can be forgiven.

    Without ``count_fp`` each constraint counts once.
    """

    count_fp: bool = True
    max_repetitions: Number = 6
    sys_behaviours: SystemRepetitionChecks = SystemRepetitionChecks()
    user_behaviours: UserRepetitionChecks = UserRepetitionChecks()


class OutsideGoalChecks(Struct, frozen=True, forbid_unknown_fields=True):
    """System behaviours, in the last ``sys_context_size`` turns, that warrant a constraint the goal does not have."""

    offers: bool = True
    requests: bool = False
    booking_failure_response: bool = True
    booking_request_response: bool = True
    recommendations: bool = True
    sys_context_size: Number = 2


class AutoMatching(Struct, frozen=True, forbid_unknown_fields=True):
    """Constraints outside the goal that are always credited (``max_repetions_matched``: the reference spells it so)."""

    max_repetions_matched: Number = 6
    slots: dict[str, tuple[str, ...]] = field(
        default_factory=lambda: {domain: tuple(slots) for domain, slots in _MULTIWOZ["auto_matched_slots"].items()}
    )
    vals: tuple[str, ...] = ("dontcare",)
    slot_value_pairs: dict[str, dict[str, tuple[str, ...]]] = {}


class ConstraintsNotInGoal(Struct, frozen=True, forbid_unknown_fields=True):
    """Options for constraints whose slot the goal does not have; ``max_user_responses`` has no effect."""

    sys_checks: OutsideGoalChecks = OutsideGoalChecks()
    max_repetitions: Number = 6
    auto_matching: AutoMatching = AutoMatching()
    max_user_responses: Number = 6


class EmptyResult(Struct, frozen=True, forbid_unknown_fields=True):
    """What a search that found nothing takes away from the goal."""

    compensate_request: bool = True
    compensate_missed_constraints: bool = True


class ValueMatching(Struct, frozen=True, forbid_unknown_fields=True):
    """How values are brought to their canonical form."""

    use_fuzzy_match: bool = True
    fuzzy_match_threshold: Share = 0.9
    use_canonical_map: bool = True


class MultipleValues(Struct, frozen=True, forbid_unknown_fields=True):
    """Several values in one act: each for itself, or merged into one text."""

    merge: bool = False


class ConstraintOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """Options of I-GCDF1.

    ``compensate_preemption``: what the system says counts as said. ``repetitions_warning``: what is repeated more often
    is recorded; it has no effect on scores.
    """

    repetitions_warning: Number = 4
    repetitions: ConstraintRepetitions = ConstraintRepetitions()
    constraints_not_in_goal: ConstraintsNotInGoal = ConstraintsNotInGoal()
    empty_db_result: EmptyResult = EmptyResult()
    compensate_preemption: bool = True
    value_matching: ValueMatching = ValueMatching()
    multiple_values_for_slot_in_turn: MultipleValues = MultipleValues()


class GcdfConfig(Struct, frozen=True, forbid_unknown_fields=True):
    """All options. ``mode`` is dialgauge's own, the others the reference's.

    ``mode``: ``reference`` follows the authors' evaluator to the bit; ``recommended`` repairs what it gets wrong.
    """

    use_lowercase: bool = True
    igcd_f1: ConstraintOptions = ConstraintOptions()
    rgcd_f1: RequestOptions = RequestOptions()
    mode: Mode = "reference"

    @property
    def strict(self) -> bool:
        """Does a dialogue the reference aborts on fail?"""
        return self.mode == "reference"


def load_config(
    path: str | Path | None = None, overrides: Iterable[str] = (), *, defaults: dict[str, Any] | None = None
) -> GcdfConfig:
    """The configuration from a YAML file with ``dotted.path=value`` overrides on top and a profile's defaults below."""
    tree = merged(defaults or {}, read_yaml(path).as_mapping("a configuration") if path else {})
    for override in overrides:
        _apply(override, tree)
    file, mode = str(path) if path else None, tree.get("mode", MODES[0])
    if mode not in MODES:
        raise DialgaugeError(f"mode cannot be '{mode}'.{nearest(str(mode), MODES)}", file=file)
    config = as_record(tree, GcdfConfig, "a configuration", file=file)
    if not config.use_lowercase:
        raise DialgaugeError("use_lowercase can only be true: goals and acts are compared in lower case", file=file)
    return config


def _apply(override: str, tree: dict[str, Any]) -> None:
    path, equals, text = override.partition("=")
    if not equals or not path.strip():
        raise DialgaugeError(
            f"'{override}' is not an override; write a dotted path and a value: igcd_f1.repetitions.x=3"
        )
    try:
        value = parse_yaml(text).content
    except DialgaugeError as error:
        raise DialgaugeError(f"the value in '{override}' is not valid YAML") from error
    *groups, last = path.strip().split(".")
    for group in groups:
        tree = tree.setdefault(group, {})
        if not isinstance(tree, dict):
            raise DialgaugeError(f"'{path.strip()}' is not an option: '{group}' holds a value, not a group of options")
    tree[last] = value
