"""Dataset profiles: what GCDF1 must know of a dataset, as data.

A profile is a YAML file: which act names mean what, which domains exist and how they name and book their entities,
which slots are reference numbers or counts, and which values stay as they are. Profiles shipped with
dialgauge are found by name; anyone else's by the path of its file. ``docs/users.md`` shows how to write one.

``multiwoz21``         MultiWOZ 2.1 as ConvLab-2's agents speak it: the constants of the GCDF1 evaluator
``multiwoz21-people``  the people of MultiWOZ 2.1: the same, and the slot names of the dataset's annotation, which
                       differ from those of the goals

These two are written as JSON, which is YAML too and takes a fiftieth of the time to read.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.worlds import domain as domains
from dialgauge.yaml_file import YamlDocument, read_yaml

#: Act families. A profile must give expressions for the first two: without them every user would seem silent.
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


_NEEDED = FAMILIES[:2]
#: The profile with the constants of the authors' evaluator.
REFERENCE = "multiwoz21"
#: The acts of domains with services, by family.
_DOMAIN_ACTS = {
    "inform": ["-Inform$"],
    "request": ["-Request$"],
    "nobook": ["-NoBook$"],
    "recommend": ["-Offer$"],
    "offerbooked": ["-Book$"],
    "nooffer": ["-NoOffer$"],
}
_SHIPPED = Path(__file__).with_name("profiles")
#: The profiles of formats that have one of their own.
PROFILES = {"multiwoz": "multiwoz21-people"}


class DatasetDomain(Struct, frozen=True, forbid_unknown_fields=True):
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
    domains: dict[str, DatasetDomain]
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
    #: Service, or ``*`` for all, to slots as the acts write them and as the goals do (both in lower case).
    slot_names: dict[str, dict[str, str]] = {}
    #: Domain to values that refer back to something said and are never normalised.
    coreference: dict[str, tuple[str, ...]] = {}
    #: Are requested slots written ``service-slot``? If not, the service is put before them.
    requests_carry_service: bool = True
    #: Options that differ from the reference's defaults for this dataset; a configuration goes over them.
    defaults: dict[str, Any] = {}

    def goal_slot(self, service: str, slot: str) -> str:
        """A slot as acts write it under the name that goals use."""
        slot, names = slot.lower(), self.slot_names
        return names.get(service, {}).get(slot) or names.get("*", {}).get(slot) or slot

    def with_booking(self, *domains: str) -> tuple[str, ...]:
        """Some domains and, where the dataset has one, the booking service."""
        return (*domains, self.booking_service) if self.booking_service else domains

    def domain(self, name: str) -> DatasetDomain | None:
        """The description of a domain; None when the profile does not know it."""
        exact = self.domains.get(name)
        if exact is not None:
            return exact
        return next((domain for pattern, domain in self.domains.items() if fnmatchcase(name, pattern)), None)


def shipped() -> list[str]:
    """The names of the profiles that come with dialgauge."""
    return sorted(file.stem for file in _SHIPPED.glob("*.json"))


def profile_for(format: str) -> str:
    """The name of the profile that goes with dialogues of a format."""
    return PROFILES.get(format, REFERENCE)


def chosen_profile(chosen: str | DatasetProfile | None, format: str) -> DatasetProfile:
    """The profile that was named or given, else the one that goes with the format."""
    return chosen if isinstance(chosen, DatasetProfile) else load_profile(chosen or profile_for(format))


def load_profile(name: str) -> DatasetProfile:
    """A shipped profile by name, or one of your own by the path of its YAML file, or of the folder of a domain."""
    if name in shipped():
        return _shipped_profile(name)
    if (Path(name) / domains.DOMAIN_FILE).is_file():
        return domain_profile(domains.read_domain(Path(name)))
    if not Path(name).is_file():
        raise DialgaugeError(f"there is no dataset profile and no file '{name}'.{nearest(name, shipped())}")
    return _checked(read_yaml(name))


def domain_profile(domain: domains.Domain) -> DatasetProfile:
    """The profile that follows from a domain: its services, the slots that name, book and refer, the names of acts."""
    services = domain.services
    gives = [slot.lower() for slot in sorted(domain.references)]
    return DatasetProfile(
        name=domain.name,
        acts={family: tuple(names) for family, names in _DOMAIN_ACTS.items()},
        domains={
            name: DatasetDomain(
                entity_slots=(service.name_slot.lower(),) if service.name_slot else (),
                transactional=service.book is not None,
                books_itself=True,
            )
            for name, service in services.items()
        },
        general_service=domains.GENERAL,
        reference_markers=tuple(gives),
        reference_slots=tuple(gives),
        choice_slots=(domains.CHOICE,),
        defaults={
            "igcd_f1": {
                "constraints_not_in_goal": {
                    "auto_matching": {
                        "slots": {name: list(service.refers) for name, service in services.items() if service.refers}
                    }
                }
            },
            "rgcd_f1": {
                "missing_requests": {"provision_domains": ["*"]},
                "auto_add_to_ref": [f"{name}-{slot}" for name, service in services.items() for slot in service.gives],
            },
        },
    )


@cache
def _shipped_profile(name: str) -> DatasetProfile:
    return msgspec.json.decode((_SHIPPED / f"{name}.json").read_bytes(), type=DatasetProfile)


def _checked(document: YamlDocument) -> DatasetProfile:
    profile = document.as_record(DatasetProfile, "a dataset profile")
    for group in ("acts", "acts_repaired"):
        for family, expressions in getattr(profile, group).items():
            location: dict[str, Any] = {"file": document.file, "line": document.line(group, family)}
            if family not in FAMILIES:
                raise DialgaugeError(f"there is no act family '{family}'.{nearest(family, FAMILIES)}", **location)
            for expression in expressions:
                try:
                    re.compile(expression)
                except (re.error, RecursionError, OverflowError) as error:
                    raise DialgaugeError(
                        f"the act family '{family}': '{expression[:80]}' is not a valid regular expression ({error})",
                        **location,
                    ) from error
    for family in _NEEDED:
        if not profile.acts.get(family):
            raise DialgaugeError(
                f"the profile has no expression for the act family '{family}', so no user would ever seem to "
                f"{family} anything; give the names of such acts under 'acts'",
                file=document.file,
                line=document.line("acts"),
            )
    return profile
