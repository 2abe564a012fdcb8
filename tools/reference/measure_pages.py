"""One page per measure: its card, its worked example, and what its room notes of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from tools.reference.markdown import code, sections, slug, table
from tools.reference.room_notes import FILE, room_notes
from tools.reference.worked import Example, Form, forms

from dialgauge.kinds import kind_named
from dialgauge.measures import Card, Parameter, Score, cards, families, mean_of_ratios
from dialgauge.tracking.counts import SYMBOLS

FOLDER = "reference/measures"
#: Rows of a worked example that a page shows.
_SHOWN = 6
#: The letters of the counts of a turn, and their columns in the table ``turn_scores``.
_COUNTS = {"C": "correct", "V": "wrong_value", "D": "missed", "W": "spurious"}


def page_path(name: str) -> str:
    """Where the page of a measure stands in the site."""
    return f"{FOLDER}/{slug(name)}.md"


def by_family() -> dict[str, list[Card[Any]]]:
    """Our own cards, each in the first family that declares it."""
    seen: set[str] = set()
    found: dict[str, list[Card[Any]]] = {}
    for family in families():
        for card in kind_named(family).part("cards", tuple) or ():
            if card.name not in seen:
                seen.add(card.name)
                found.setdefault(family, []).append(card)
    return found


def navigation() -> list[Any]:
    """The part of the site's navigation that names these pages."""
    groups = [
        {kind_named(family).heading: [{card.name: page_path(card.name)} for card in listed]}
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
        parts += [f"## {kind_named(family).heading}", table(("measure", "what it says"), rows)]
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
    if card.symbols:
        yield "where", _defined(card.symbols)
    yield "Unit", "share, shown as percent" if card.unit == "share" else card.unit
    yield "Bounds", f"{_bound(card.lower, card.unit)} to {_bound(card.upper, card.unit)}"
    yield "Better", {True: "higher", False: "lower", None: "neither"}[card.higher_is_better]
    yield "Family", card.family
    yield "Source", card.source
    if card.units is None and card.sums:
        yield "Made", "of several sums, not of one numerator and one denominator"
    elif card.of is mean_of_ratios:
        yield "Made", "as a ratio of sums, or as a mean of such ratios"


def _defined(symbols: Mapping[str, str]) -> str:
    return "; ".join(f"{code(letter)}: {meaning}" for letter, meaning in symbols.items())


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
        yield f"The commands of the examples do not compute it; name one that does in its room's {FILE}."
        return
    first = _telling(found)
    yield "```{.text .command}\n" + "\n".join(first.example.commands) + "\n```"
    yield _where_files_are(first.example)
    yield _turns(first, card) or _sums(first, card)
    others = {form.name: form for form in reversed(found) if form.name != first.name and form.example == first.example}
    if others:
        rows = [(code(name), value_text(form.score)) for name, form in reversed(others.items())]
        yield "Other forms, by the same command:\n\n" + table(("form", "value"), rows[: 2 * _SHOWN])


def _where_files_are(example: Example) -> str:
    files = ", ".join(map(code, example.files))
    if files:
        return f"The command reads {files} of [docs/examples]({_EXAMPLES})."
    if example.made_by:
        return "The first command makes the files that the second one reads."
    return "The command needs no files."


_EXAMPLES = "../../examples/README.md"


def _telling(found: list[Form]) -> Form:
    """A form with a value that is neither nothing nor everything, if there is one; the shortest name among those."""

    def dull(form: Form) -> tuple[bool, int]:
        return form.score.value in (None, 0.0, 1.0), len(form.name)

    # These have measures of other kinds beside their own.
    own = [form for form in found if form.example.run.kind not in ("lab", "interaction")]
    return min(own or found, key=dull)


def _turns(form: Form, card: Card[Any]) -> str:
    """Turn by turn, where the run has that and the measure a column in it."""
    run = form.example.run
    if "turn_scores" not in run.tables:
        return ""
    frame = run.table("turn_scores")
    if form.name not in frame.columns:
        return ""
    head = frame.filter(frame["dialogue"] == "HOTEL1") if "HOTEL1" in frame["dialogue"] else frame
    rows = [
        (row["user_turn"], *(row[count] for count in _COUNTS.values()), _number(row[form.name]))
        for row in head.sort("turn").to_dicts()
    ]
    shown = table(("turn of HOTEL1", *_COUNTS, code(form.name)), rows)
    undefined = {letter: SYMBOLS[letter] for letter in _COUNTS if letter not in card.symbols}
    legend = f"\n{_defined(undefined)}.\n" if undefined else ""
    where = _extent(frame.drop_nulls(form.name).height, frame.height, frame["dialogue"].n_unique())
    return f"{shown}{legend}\n{where}: {_made(form)}."


def _extent(scored: int, turns: int, dialogues: int) -> str:
    """What a value is taken over: turns, those of them that have a score, or dialogues."""
    if scored == turns:
        return f"Over all {turns} turns of the example"
    if scored == dialogues:
        return f"Over the {dialogues} dialogues of the example, with one score each"
    return f"Over the {scored} turns of the example that have a score, of {turns}"


def _made(form: Form) -> str:
    """The value, as the quotient of its sums where it is that."""
    value = f"{code(form.name)} is **{value_text(form.score)}**"
    above, below = sum(row[1] for row in form.sums), sum(row[2] for row in form.sums)
    return f"{value} = {_number(above)} / {_number(below)}" if form.sums and _ratio(form, above, below) else value


def _sums(form: Form, card: Card[Any]) -> str:
    unit = "task" if card.formula.startswith("mean over tasks") else "dialogue"
    # A task is stored under its first trial.
    rows = [(name.partition("#")[0] if unit == "task" else name, num, den) for name, num, den in form.sums]
    if not rows:
        return f"{_made(form)}, computed over the whole example at once, not dialogue by dialogue."
    above, below = sum(row[1] for row in rows), sum(row[2] for row in rows)
    shown = [(code(name), _number(num), _number(den)) for name, num, den in rows[:_SHOWN]]
    if len(rows) > _SHOWN:
        rest = rows[_SHOWN:]
        shown.append((f"{len(rest)} more", _number(sum(r[1] for r in rest)), _number(sum(r[2] for r in rest))))
    shown.append(("sum", _number(above), _number(below)))
    return table((unit, "numerator", "denominator"), shown) + f"\n{_made(form)}."


def _ratio(form: Form, above: float, below: float) -> bool:
    return form.score.value is not None and math.isclose(above / below, form.score.value, rel_tol=1e-9, abs_tol=1e-12)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"


def notes_of(name: str) -> dict[str, str]:
    """What the notes say of a measure; their keys are names or patterns, ``SGD-*``, and the most exact one wins."""
    noted = room_notes("measures")
    fitting = [key for key in noted if any(fnmatchcase(name, one.strip()) for one in key.split(","))]
    merged: dict[str, str] = {}
    for key in sorted(fitting, key=lambda key: name in key.split(",")):
        merged.update(noted[key])
    return merged
