"""What dialogue acts do: the two halves of their names, and which intents ask, tell, offer, confirm and refuse.

Names are those of MultiWOZ and its descendants, ``Hotel-Inform``; datasets whose acts name no service write ``INFORM``.
Intents are compared in small letters. Published evaluators that hold other intents for telling say so where they are.
"""

from __future__ import annotations

from functools import lru_cache

INFORM, OFFER, RECOMMEND, REQUEST, SELECT = "inform", "offer", "recommend", "request", "select"
BOOK, OFFER_BOOK, OFFER_BOOKED = "book", "offerbook", "offerbooked"
NO_OFFER, NO_BOOK = "nooffer", "nobook"
#: Something was told of a slot that whoever read it could not make out.
UNSURE = "unsure"

#: A booking was made.
CONFIRMING = frozenset({BOOK, OFFER_BOOKED})
#: There is nothing, or it cannot be booked.
REFUSING = frozenset({NO_OFFER, NO_BOOK})
#: Something is so: the values are those of what is spoken of.
TELLING = CONFIRMING | {INFORM, OFFER, RECOMMEND, OFFER_BOOK}
#: Something can be had: as in telling, or several to choose from.
OFFERING = TELLING | {SELECT}


def name_halves(name: str) -> tuple[str, str]:
    """The service and the intent as the name of an act writes them.

    >>> name_halves("Hotel-Inform"), name_halves("INFORM")
    (('Hotel', 'Inform'), ('', 'INFORM'))
    """
    service, _, intent = name.rpartition("-")
    return service, intent


@lru_cache(1 << 12)
def service_of(name: str) -> str:
    """The service in the name of an act, in small letters; empty where the name has none.

    >>> service_of("Hotel-Inform"), service_of("INFORM")
    ('hotel', '')
    """
    return name_halves(name)[0].lower()


class _Intents(dict[str, str]):
    """What an act does, in small letters, by its name. Looked up so often that a call would be felt.

    >>> INTENTS["Hotel-Inform"], INTENTS["INFORM"]
    ('inform', 'inform')
    """

    def __missing__(self, name: str) -> str:
        if len(self) >= _MOST_NAMES:
            self.clear()
        intent = self[name] = name_halves(name)[1].lower()
        return intent


_MOST_NAMES = 1 << 12
INTENTS = _Intents()
