"""DSTC2 calls as dialogs of task 6.

The original conversion was not published; these rules follow what the released files show (specification, section 6):

* the user's side is the transcription, silence where there is none; the last user turn is answered by `` you are
  welcome`` (with the release's leading space);
* before the system first offers a venue, or says that none fits, an API call with the labelled constraints is
  inserted, its results follow, and the system's real words answer silence; a new call is made when the constraints
  have changed since the last one. A constraint that is not set, or does not matter, is written ``R_cuisine``,
  ``R_location``, ``R_price``;
* results come from the knowledge base, or, where none is given, from what the systems said in all calls;
* ratings from 0 to 10 are invented for each dialog so that venues are proposed in the order of their ratings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dialgauge.babi.draws import Draws
from dialgauge.babi.dstc2_folder import Dstc2Ontology, LabelTurn, Output, Session
from dialgauge.babi.dstc2_text import CONTACT, Joiner, one_word, system_text, venue_of
from dialgauge.babi.phrases import API_CALL
from dialgauge.dialogue import DONTCARE, Dialogue, Fact, State, Turn
from dialgauge.formats.babi import SILENCE

CLOSING = " you are welcome"
DOMAIN = "restaurant"

#: The slots of a call in its order, and the relation that is each one's placeholder.
CONSTRAINTS = {"food": "R_cuisine", "area": "R_location", "pricerange": "R_price"}
RESULT_ORDER = ("R_post_code", "R_cuisine", "R_location", "R_phone", "R_address", "R_price")
BEST_RATING = 10

Venues = dict[str, dict[str, str]]


def venues_of(facts: Iterable[Fact]) -> Venues:
    """A knowledge base by venue and relation."""
    venues: Venues = {}
    for fact in facts:
        venues.setdefault(fact.entity, {})[fact.relation] = fact.value
    return venues


def venues_mentioned(sessions: Iterable[Session]) -> Venues:
    """What the systems said about venues: the knowledge base where none is given."""
    venues: Venues = {}
    for session in sessions:
        for exchange in session.exchanges:
            name = one_word(venue_of(exchange.system))
            if not name:
                continue
            known = venues.setdefault(name, {f"R_{end}": f"{name}_{end}" for end in CONTACT.values()})
            for act in exchange.system.acts:
                if act.act in ("offer", "inform"):
                    said = (pair for pair in act.pairs() if pair[0] in CONSTRAINTS and pair[1] != DONTCARE)
                    known.update({CONSTRAINTS[slot]: one_word(value) for slot, value in said})
    return dict(sorted(venues.items()))


def entities_of(ontology: Dstc2Ontology) -> list[str]:
    """The names and values that are written as one word."""
    return [value for slot in ("food", "name") for value in ontology.informable.get(slot, [])]


def convert(session: Session, venues: Venues, joiner: Joiner, *, seed: int = 0) -> Dialogue:
    """One call as a dialog of task 6; labelled states and requests are kept on the user's turns."""
    turns: list[Turn] = []
    ratings = _ratings(session, venues, seed)
    asked = Turn(speaker="user", text=SILENCE, state={})
    last_call, venue, constraints = "", "", dict[str, str]()
    for exchange in session.exchanges:
        venue = venue_of(exchange.system) or venue
        call = _call(constraints)
        if _consults(exchange.system) and call != last_call:
            found = [name for name in venues if _fits(venues[name], constraints)]
            results = tuple(fact for name in found for fact in _answer(name, venues[name], ratings[name]))
            turns += (asked, Turn(speaker="system", text=call))
            asked = Turn(speaker="user", text=SILENCE, state=asked.state, results=results)
            last_call = call
        turns += (asked, Turn(speaker="system", text=system_text(exchange.system, venue, joiner)))
        asked = _user_turn(exchange.user, joiner)
        constraints = {slot: one_word(value) for slot, value in exchange.user.goals.items() if slot in CONSTRAINTS}
    turns += (asked, Turn(speaker="system", text=CLOSING))
    return Dialogue(id=session.id, turns=tuple(turns), domains=(DOMAIN,))


def _user_turn(label: LabelTurn, joiner: Joiner) -> Turn:
    text = " ".join(label.transcription.lower().split())
    slots = {slot: (value,) for slot, value in label.goals.items() if value}
    state: State = {DOMAIN: dict(slots)} if slots else {}
    requested = {DOMAIN: tuple(label.requested)} if label.requested else {}
    return Turn(speaker="user", text=joiner(text) or SILENCE, state=state, requested=requested)


def _consults(output: Output) -> bool:
    """Does the system need the knowledge base for what it says?"""
    return any(act.act in ("offer", "canthelp") for act in output.acts)


def _set_constraints(constraints: dict[str, str]) -> Iterator[tuple[str, str]]:
    return ((relation, constraints.get(slot, DONTCARE)) for slot, relation in CONSTRAINTS.items())


def _call(constraints: dict[str, str]) -> str:
    words = [relation if value == DONTCARE else value for relation, value in _set_constraints(constraints)]
    return " ".join((API_CALL, *words))


def _fits(venue: dict[str, str], constraints: dict[str, str]) -> bool:
    return all(value in (DONTCARE, venue.get(relation)) for relation, value in _set_constraints(constraints))


def _answer(name: str, venue: dict[str, str], rating: int) -> Iterator[Fact]:
    yield from (Fact(name, relation, venue[relation]) for relation in RESULT_ORDER if relation in venue)
    yield Fact(name, "R_rating", str(rating))


def _ratings(session: Session, venues: Venues, seed: int) -> dict[str, int]:
    """A rating for every venue: the first proposed has the best one alone, later ones never rise, the rest are drawn.

    Venues that are never proposed lie below all that are, as long as there are ratings left to give.
    """
    draws = Draws(seed, "dstc2", session.id)
    named = (one_word(venue_of(exchange.system)) for exchange in session.exchanges)
    proposed = [name for name in dict.fromkeys(named) if name in venues]
    ratings = {name: max(BEST_RATING - place, 0) for place, name in enumerate(proposed)}
    most = max(BEST_RATING - max(len(proposed), 1), 0)
    return {name: ratings[name] if name in ratings else draws.integer(0, most) for name in venues}
