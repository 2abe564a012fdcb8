"""A dataset described by its schema file: which services and slots there are, what can be booked, what names an entity.

A profile describes the domains it names. Services that it knows only by a pattern (``Restaurants_*``), or not at all,
are described by the schema: a service with a transactional intent takes bookings, and its entities are named by the
slots that such an intent requires, that a search of the service gives as a result, and that no search takes as an input
(``restaurant_name`` of ReserveRestaurant). Goals that speak of services or slots outside the schema are refused.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
from msgspec import Struct

from dialgauge.dialogue import Goal
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.formats import decode, resolve
from dialgauge.users.profile import DatasetDomain, DatasetProfile


class _Slot(Struct, gc=False):
    name: str


class _Intent(Struct, gc=False):
    is_transactional: bool = False
    required_slots: tuple[str, ...] = ()
    optional_slots: dict[str, str] | tuple[str, ...] = {}
    result_slots: tuple[str, ...] = ()


class _Service(Struct, gc=False):
    service_name: str
    slots: tuple[_Slot, ...]
    intents: tuple[_Intent, ...] = ()


_FILE = msgspec.json.Decoder(tuple[_Service, ...])


class ServiceSchema(Struct, frozen=True):
    """One service: the slots that goals and acts may use, in lower case, and what the service is like as a domain."""

    slots: frozenset[str]
    domain: DatasetDomain


class DatasetSchema(Struct, frozen=True):
    """The services of a dataset by name."""

    services: dict[str, ServiceSchema]

    def described(self, profile: DatasetProfile) -> DatasetProfile:
        """The profile with a description of every service that it does not name itself."""
        own = {name: domain for name, domain in profile.domains.items() if "*" not in name}
        patterns = {name: domain for name, domain in profile.domains.items() if "*" in name}
        described = {name: self._described(name, profile) for name in self.services if name not in own}
        return msgspec.structs.replace(profile, domains={**own, **described, **patterns})

    def _described(self, name: str, profile: DatasetProfile) -> DatasetDomain:
        domain = self.services[name].domain
        return msgspec.structs.replace(domain, books_itself=domain.transactional and not profile.booking_service)

    def check(self, goal: Goal) -> None:
        """Refuse a goal with a service, or a constraint on a slot, that the schema does not have."""
        for name, task in goal.tasks.items():
            service = self.services.get(name)
            if service is None:
                raise DialgaugeError(
                    f"its goal has the domain '{name}', which the schema does not have.{nearest(name, self.services)}"
                )
            for constraints in (task.info, task.fail_info, task.book, task.fail_book):
                for slot in constraints:
                    if slot.lower() not in service.slots:
                        raise DialgaugeError(
                            f"its goal wants the slot '{slot}' of '{name}', which the schema does not have."
                            f"{nearest(slot, service.slots)}"
                        )


def load_schema(source: str | Path) -> DatasetSchema:
    """The services of a schema file, as SGD, MultiWOZ 2.2 and GCDF1 publish them."""
    parts = resolve(source)
    if len(parts) != 1:
        raise DialgaugeError("a schema is one file", file=os.fspath(source))
    services: dict[str, ServiceSchema] = {}
    for service in decode(_FILE, parts[0].read(), parts[0]):
        if service.service_name in services:
            raise DialgaugeError(f"the service '{service.service_name}' is listed twice", file=parts[0].name)
        # As goals write them: MultiWOZ's ``hotel-bookday`` is the slot ``day``.
        bare = [slot.name.lower().removeprefix(f"{service.service_name.lower()}-") for slot in service.slots]
        slots = frozenset([*bare, *(name.removeprefix("book") for name in bare)])
        services[service.service_name] = ServiceSchema(slots, _domain(service))
    if not services:
        raise DialgaugeError("the schema lists no service", file=parts[0].name)
    return DatasetSchema(services)


def _domain(service: _Service) -> DatasetDomain:
    searches = [intent for intent in service.intents if not intent.is_transactional]
    bookings = [intent for intent in service.intents if intent.is_transactional]
    inputs = {slot for intent in searches for slot in (*intent.required_slots, *intent.optional_slots)}
    results = {slot for intent in searches for slot in intent.result_slots} - inputs
    entities = dict.fromkeys(slot for intent in bookings for slot in intent.required_slots if slot in results)
    return DatasetDomain(entity_slots=tuple(entities), transactional=bool(bookings))
