"""One page per measure: its card, its worked example, and what ``measure_notes.yaml`` says about it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from tools.reference.markdown import code, sections, slug, table
from tools.reference.worked import Form, forms

from dialgauge.measures import FAMILIES, Card, Parameter, Score, cards

NOTES = Path(__file__).parents[2] / "docs" / "reference" / "measure_notes.yaml"
FOLDER = "reference/measures"
#: Rows of a worked example that a page shows.
_SHOWN = 6
_FAMILY_TITLES = {
    "tracking": "State tracking",
    "responses": "Responses",
    "users": "Simulated users",
    "faults": "Faults of users",
    "outcomes": "Outcomes of conversations",
    "trials": "Trials of agents",
    "tasks": "Recorded responses",
    "lab": "The lab",
}


def page_path(name: str) -> str:
    """Where the page of a measure stands in the site."""
    return f"{FOLDER}/{slug(name)}.md"


def by_family() -> dict[str, list[Card[Any]]]:
    """Our own cards, each in the first family that declares it."""
    from importlib import import_module

    seen: set[str] = set()
    found: dict[str, list[Card[Any]]] = {}
    for family, module in FAMILIES.items():
        for card in import_module(module).CARDS:
            if card.name not in seen:
                seen.add(card.name)
                found.setdefault(family, []).append(card)
    return found


def navigation() -> list[Any]:
    """The part of the site's navigation that names these pages."""
    groups = [
        {_FAMILY_TITLES.get(family, family): [{card.name: page_path(card.name)} for card in listed]}
        for family, listed in by_family().items()
    ]
    return [{"All measures": f"{FOLDER}/index.md"}, *groups]


def measure_pages() -> Iterator[tuple[str, str]]:
    """Path and text of every page."""
    yield f"{FOLDER}/index.md", _index()
    for name, card in cards().items():
        yield page_path(name), measure_page(card)


def _index() -> str:
    parts = [
        "# All measures",
        "Every page is made from the measure's card in the code, and its worked example is computed when this site is "
        "built. [How measures are named, and what they have in common](../../measures.md).",
    ]
    for family, listed in by_family().items():
        rows = [(f"[{code(one.name)}]({slug(one.name)}.md)", one.summary) for one in listed]
        parts += [f"## {_FAMILY_TITLES.get(family, family)}", table(("measure", "what it says"), rows)]
    return sections(*parts)


def measure_page(card: Card[Any]) -> str:
    """The page of one measure."""
    notes = notes_of(card.name)
    return sections(
        f"# {card.name}: {card.title[0].lower()}{card.title[1:]}" if card.title != card.name else f"# {card.name}",
        card.summary,
        table(("Name", _written(card)), _facts(card)),
        _parameters(card),
        "## Worked example",
        *_worked(card),
        f"## Variants in the wild\n\n{notes['variants']}" if notes.get("variants") else "",
        f"## When it misleads\n\n{notes['misleads']}" if notes.get("misleads") else "",
    )


def _written(card: Card[Any]) -> str:
    return code(card.name + (f"{card.mark}{card.cutoff.default}" if card.cutoff else ""))


def _facts(card: Card[Any]) -> Iterator[tuple[str, str]]:
    yield "Formula", code(card.formula)
    yield "Unit", "share, shown as percent" if card.unit == "share" else card.unit
    yield "Bounds", f"{_bound(card.lower, card.unit)} to {_bound(card.upper, card.unit)}"
    yield "Better", {True: "higher", False: "lower", None: "neither"}[card.higher_is_better]
    yield "Family", card.family
    yield "Source", card.source
    if card.statistics:
        yield "Made", "of several sums, not of one numerator and one denominator"
    elif card.grouped_by:
        yield (
            "Made",
            f"as a ratio of sums; as a mean with {code(card.grouped_by[0])} {', '.join(card.grouped_by[1])}",
        )


def _bound(bound: float, unit: str) -> str:
    if math.isinf(bound):
        return "no limit"
    return f"{bound * 100:g}%" if unit == "share" else f"{bound:g}"


def _parameters(card: Card[Any]) -> str:
    listed: list[Parameter] = [*([card.cutoff] if card.cutoff else []), *card.parameters]
    rows = [
        (code(one.name), code(one.default), ", ".join(map(code, one.choices)) or "a number", one.summary)
        for one in listed
    ]
    return "## Parameters\n\n" + table(("parameter", "default", "choices", "meaning"), rows) if rows else ""


def value_text(score: Score) -> str:
    """A score as pages print it."""
    if score.value is None or math.isnan(score.value):
        return "undefined"
    return f"{score.value * 100:.2f}%" if score.unit == "share" else f"{score.value:.4g} {score.unit}"


def _worked(card: Card[Any]) -> Iterator[str]:
    found = list(forms(card.name))
    if not found:
        raise LookupError(f"no worked example computes {card.name}: add a command to tools/reference/worked.py")
    first = _telling(found)
    yield f"```{{.text .command}}\n{first.example.command}\n```\n\nwith the files of [docs/examples]({_EXAMPLES}):"
    yield _turns(first) or _sums(first)
    others = [(code(form.name), code(form.example.name), value_text(form.score)) for form in found if form != first]
    if others:
        yield "Other forms in the examples:\n\n" + table(("form", "example", "value"), others[: 2 * _SHOWN])


_EXAMPLES = "../../examples/README.md"


def _telling(found: list[Form]) -> Form:
    """A form with a value that is neither nothing nor everything, if there is one; the shortest name among those."""

    def dull(form: Form) -> tuple[bool, int]:
        return form.score.value in (None, 0.0, 1.0), len(form.name)

    own = [form for form in found if form.example.run.kind in ("tracking", "responses", "users", "tasks", "trials")]
    return min(own or found, key=dull)


def _turns(form: Form) -> str:
    """Turn by turn, where the run has that and the measure a column in it."""
    run = form.example.run
    if "turn_scores" not in run.tables:
        return ""
    frame = run.table("turn_scores")
    if form.name not in frame.columns:
        return ""
    head = frame.filter(frame["dialogue"] == "HOTEL1") if "HOTEL1" in frame["dialogue"] else frame
    counts = ("correct", "wrong_value", "missed", "spurious")
    rows = [
        (row["user_turn"], *(row[count] for count in counts), _number(row[form.name]))
        for row in head.sort("turn").to_dicts()
    ]
    shown = table(("turn of HOTEL1", "C", "V", "D", "W", code(form.name)), rows)
    return f"{shown}\nOver all {frame.height} turns of the example {code(form.name)} is **{value_text(form.score)}**."


def _sums(form: Form) -> str:
    rows = form.sums
    value = f"{code(form.name)} is **{value_text(form.score)}**"
    if not rows:
        return (
            f"{value}, computed over all dialogues at once: no dialogue has a numerator and a denominator of its own."
        )
    above, below = sum(row[1] for row in rows), sum(row[2] for row in rows)
    shown = [(code(name), _number(num), _number(den)) for name, num, den in rows[:_SHOWN]]
    if len(rows) > _SHOWN:
        rest = rows[_SHOWN:]
        shown.append((f"{len(rest)} more", _number(sum(r[1] for r in rest)), _number(sum(r[2] for r in rest))))
    shown.append(("sum", _number(above), _number(below)))
    made = f"{value} = {_number(above)} / {_number(below)}." if _ratio(form, above, below) else f"{value}."
    return table(("dialogue", "numerator", "denominator"), shown) + "\n" + made


def _ratio(form: Form, above: float, below: float) -> bool:
    return form.score.value is not None and math.isclose(above / below, form.score.value, rel_tol=1e-9, abs_tol=1e-12)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"


@cache
def _all_notes() -> Mapping[str, Mapping[str, str]]:
    loaded: dict[str, dict[str, str]] = yaml.safe_load(NOTES.read_text("utf-8"))
    return loaded


def notes_of(name: str) -> dict[str, str]:
    """What the notes say of a measure; their keys are names or patterns, ``SGD-*``, and the most exact one wins."""
    fitting = [key for key in _all_notes() if any(fnmatchcase(name, one.strip()) for one in key.split(","))]
    merged: dict[str, str] = {}
    for key in sorted(fitting, key=lambda key: name in key.split(",")):
        merged.update(_all_notes()[key])
    return merged
