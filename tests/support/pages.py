"""Pages of dialogues and runs as text, and what must hold for text that somebody hostile wrote."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser

from dialgauge.dialogue import Act, Call, Dialogue, Goal, Outcome, State, Task, Turn

#: Markup, an attribute that ends early, a template, control characters, and marks that turn the reading order.
HOSTILE = (
    "<script>alert(1)</script>\"><img src=x onerror=alert(1)>'{{ 7*7 }}\x00\x1b[31m\x07\u202eevil [<b>] [a\x1cb] & \x85"
)
_DIALOGUE = (
    '{% import "parts.html" as parts %}{% import view.template as family with context %}'
    "{{ parts.badges(view.badges) }}{{ family.overview(view) }}{{ family.legend() }}{{ parts.turns(view, family) }}"
)
_OWN = {
    "class",
    "href",
    "id",
    "open",
    "tabindex",
    "title",
    "dir",
    "start",
    "scope",
    "rowspan",
    "colspan",
    "data-name",
    "style",
}


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def elements(page: str) -> Iterator[tuple[str, dict[str, str | None]]]:
    """The elements of a page with their attributes."""
    parser = _Elements()
    parser.feed(page)
    return iter(parser.found)


def assert_harmless(page: str) -> None:
    """Nothing in a page acts: no element, attribute or address that a text brought along, no control character."""
    for tag, attributes in elements(page):
        assert tag not in ("script", "img", "b"), tag
        strange = {name for name in attributes if name not in _OWN and not name.startswith("aria-")}
        assert not strange, (tag, strange)
        address = attributes.get("href") or "#"
        assert address.startswith(("#", "/")) and "<" not in address, address
    assert not [character for character in page if not character.isprintable() and character != "\n"]


def hostile_dialogue() -> Dialogue:
    """A dialogue that is hostile wherever a record can hold text."""
    state: State = {HOSTILE: {HOSTILE: (HOSTILE,)}}
    acts = (Act(HOSTILE, HOSTILE, HOSTILE, (HOSTILE,)), Act(f"{HOSTILE}-Inform", HOSTILE, "name", (HOSTILE,)))
    call = Call(name=HOSTILE, domain=HOSTILE, arguments={HOSTILE: HOSTILE}, result=HOSTILE, failed=True)
    return Dialogue(
        id=HOSTILE,
        turns=(
            Turn(speaker="user", text=HOSTILE, acts=acts, heard=acts[:1], state=state, predicted={}, active=(HOSTILE,)),
            Turn(speaker="system", text=HOSTILE, acts=acts, heard=(), calls=(call,)),
            Turn(speaker="user", text="", heard=acts, state=state),
            Turn(speaker="system", text="", acts=()),
        ),
        goal=Goal(tasks={HOSTILE: Task(info={HOSTILE: HOSTILE}, book={HOSTILE: HOSTILE}, requests=(HOSTILE,))}),
        domains=(HOSTILE,),
        outcome=Outcome(success=False, reason=HOSTILE, ended_by=HOSTILE, facts={"explanation": HOSTILE}),
    )
