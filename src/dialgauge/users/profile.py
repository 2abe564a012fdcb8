"""Dataset profiles: what GCDF1 must know of a dataset, as data.

A profile is a YAML file: which act names mean what, which domains exist and how they name and book their entities,
which slots are reference numbers or counts, which values stay as they are, and where goals come from. Profiles shipped
with dialgauge are found by name; anyone else's by the path of its file. ``docs/users.md`` shows how to write one.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from dialgauge.errors import DialgaugeError, nearest

#: Act families a profile must give expressions for.
FAMILIES = (
    "inform",
    "request",
    "nobook",
    "booking_inform",
    "recommend",
    "offerbooked",
    "offerbook",
    "book",
    "nooffer",
)


class Domain(Struct, frozen=True, forbid_unknown_fields=True):
    """One domain: the slots that name its entities, whether it takes bookings, and whether under its own name.

    ``books_itself``: the acts that offer and confirm a booking carry the domain's own service (MultiWOZ trains), not
    the booking service.
    """

    entity_slots: tuple[str, ...] = ()
    transactional: bool = False
    books_itself: bool = False


class DatasetProfile(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A dataset, as far as scoring a simulated user depends on it."""

    name: str
    #: Family to the regular expressions that find it in an act's name.
    acts: dict[str, tuple[str, ...]]
    #: Domain name, or pattern with ``*``, to its description; the first that fits counts.
    domains: dict[str, Domain]
    #: Expressions the reference lacks by mistake; used in recommended mode only.
    acts_repaired: dict[str, tuple[str, ...]] = {}
    booking_service: str = ""
    general_service: str = ""
    #: The domain whose mention makes other domains' names ambiguous ("a taxi to the hotel").
    taxi_domain: str = ""
    #: Substrings that mark a request for a reference number; whole names that mark the answer.
    reference_markers: tuple[str, ...] = ()
    reference_slots: tuple[str, ...] = ()
    choice_slots: tuple[str, ...] = ()
    time_slots: tuple[str, ...] = ()
    #: Service, or ``*`` for all, to slots as the acts write them and as the goals do (both in lower case).
    slot_names: dict[str, dict[str, str]] = {}
    #: Domain to values that refer back to something said and are never normalised.
    coreference: dict[str, tuple[str, ...]] = {}
    #: Are requested slots written ``service-slot``? If not, the service is put before them.
    requests_carry_service: bool = True
    #: Misspelt goal values and what they should be; used in recommended mode only.
    goal_typos: dict[str, str] = {}
    #: Options that differ from the reference's defaults for this dataset; a configuration goes over them.
    defaults: dict[str, Any] = {}
    #: Where the user's goal comes from: recorded with the dialogue, or derived from its own states and requests.
    goal: Literal["recorded", "derived"] = "recorded"

    def domain(self, name: str) -> Domain | None:
        """The description of a domain; None when the profile does not know it."""
        exact = self.domains.get(name)
        if exact is not None:
            return exact
        return next((domain for pattern, domain in self.domains.items() if fnmatchcase(name, pattern)), None)


def shipped() -> list[str]:
    """The names of the profiles that come with dialgauge."""
    folder = resources.files("dialgauge.users") / "profiles"
    return sorted(item.name.removesuffix(".yaml") for item in folder.iterdir() if item.name.endswith(".yaml"))


def load_profile(name: str) -> DatasetProfile:
    """A shipped profile by name, or one of your own by the path of its YAML file."""
    if name in shipped():
        return _shipped_profile(name)
    path = Path(name)
    if not path.is_file():
        raise DialgaugeError(f"there is no dataset profile and no file '{name}'.{nearest(name, shipped())}")
    try:
        return _parse(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise DialgaugeError(f"the profile cannot be read ({error})", file=str(path)) from error


@cache
def _shipped_profile(name: str) -> DatasetProfile:
    content = (resources.files("dialgauge.users") / "profiles" / f"{name}.yaml").read_text(encoding="utf-8")
    return _parse(content, name)


def _parse(text: str, file: str) -> DatasetProfile:
    import yaml

    try:
        content = yaml.safe_load(text)
        _refuse_unknown(content, file)
        profile = msgspec.convert(content, DatasetProfile)
    except (yaml.YAMLError, RecursionError) as error:
        raise DialgaugeError(f"the profile is not valid YAML ({error})", file=file) from error
    except msgspec.ValidationError as error:
        raise DialgaugeError(f"the profile does not have the expected shape: {error}", file=file) from error
    for family, expressions in [*profile.acts.items(), *profile.acts_repaired.items()]:
        if family not in FAMILIES:
            raise DialgaugeError(f"there is no act family '{family}'.{nearest(family, FAMILIES)}", file=file)
        for expression in expressions:
            _check_expression(expression, family, file)
    return profile


def _refuse_unknown(content: Any, file: str) -> None:
    """Keys that a profile or one of its domains does not have; other wrong shapes are left to the conversion."""
    if not isinstance(content, dict):
        return
    domains = content.get("domains")
    groups: list[tuple[type[Struct], dict[Any, Any], str]] = [(DatasetProfile, content, "")]
    if isinstance(domains, dict):
        groups += [(Domain, entry, f"domains.{name}.") for name, entry in domains.items() if isinstance(entry, dict)]
    for kind, group, path in groups:
        known = kind.__struct_fields__
        for key in group:
            if key not in known:
                raise DialgaugeError(f"a profile has no key '{path}{key}'.{nearest(str(key), known)}", file=file)


def _check_expression(expression: str, family: str, file: str) -> None:
    try:
        re.compile(expression)
    except (re.error, RecursionError, OverflowError) as error:
        raise DialgaugeError(
            f"'{expression}' of the act family '{family}' is no regular expression ({error})", file=file
        ) from error
