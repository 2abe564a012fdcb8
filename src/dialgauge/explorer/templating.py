"""Templates of pages and of the report file: everything escaped, numbers as people read them, links of either kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlencode

from markupsafe import Markup

from dialgauge.measures import screen_form
from dialgauge.rendering import SHARE
from dialgauge.text import OPTIONS, encodable, note_kind, plain

if TYPE_CHECKING:
    from jinja2 import Environment
    from jinja2.runtime import Context

    from dialgauge.measures import Score
    from dialgauge.rendering import Table

#: Characters of a text that a page shows: a browser takes minutes over a single word of 100,000.
LONGEST = 20_000
#: Characters of a run's name in a heading, and of a signature that is folded.
_HEADING = 70
_SIGNATURE = 80
_SIGNS = {"good": "✓", "bad": "✗", "warn": "!", "plain": ""}


class PageLinks:
    """Addresses of the server's pages; the one file of a report has its own. An id is always part of a query or quoted
    whole: it cannot leave its place."""

    def run(self, run: str) -> str:
        return f"/runs/{quote(run, safe='')}"

    def dialogues(self, run: str, query: str = "") -> str:
        return f"{self.run(run)}/dialogues{f'?{query}' if query else ''}"

    def dialogue(self, run: str, dialogue: str, query: str = "", turn: int | None = None) -> str:
        anchor = f"#turn-{turn}" if turn is not None else ""
        more = f"&{query}" if query else ""
        return f"{self.run(run)}/dialogue?{urlencode({'id': encodable(dialogue)})}{more}{anchor}"

    def trials(self, run: str, task: str = "") -> str:
        return f"{self.run(run)}/trials" + (f"?{urlencode({'task': encodable(task)})}" if task else "")

    def compare(self, runs: Iterable[str]) -> str:
        return f"/compare?{urlencode([('run', run) for run in runs])}"

    def side(self, runs: Iterable[str], dialogue: str, measure: str = "") -> str:
        named = [("run", run) for run in runs]
        chosen = [("measure", measure)] if measure else []
        return f"/side?{urlencode([*named, ('id', encodable(dialogue)), *chosen])}"


def sent(text: str) -> str:
    """A text as the value of a form: HTML would change some characters, so texts with such are quoted after a %.

    >>> sent("hotel-area"), sent("a\\tb"), sent("50%"), sent("%x")
    ('hotel-area', '%a%09b', '50%', '%%25x')
    """
    safe = text == shown(text) and "\n" not in text and not text.startswith("%")
    return text if safe else f"%{quote(encodable(text), safe='')}"


def received(value: str) -> str:
    """The text that :func:`sent` made a value of."""
    return unquote(value[1:]) if value.startswith("%") else value


def page_address(runs: Sequence[str]) -> str:
    """The page about some runs: all runs, one of them, or which of several is better."""
    links = PageLinks()
    if not runs:
        return "/"
    return links.run(runs[0]) if len(runs) == 1 else links.compare(runs)


@cache
def templates() -> Environment:
    """The templates; a name that a template does not get is an error, and every text is escaped."""
    from jinja2 import ChoiceLoader, Environment, FunctionLoader, PackageLoader, StrictUndefined, pass_context

    environment = Environment(
        loader=ChoiceLoader([PackageLoader("dialgauge.explorer", "templates"), FunctionLoader(_of_a_kind)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    from dialgauge.explorer import markup  # which needs what is shown from here

    environment.filters |= {
        "said": markup.said, "marked": markup.marked, "short": short_name, "points": points, "bound": bound,
        "shown": shown, "number": number, "score": score_text, "interval": interval_text, "table": table_html,
        "sign": _SIGNS.__getitem__, "sent": sent, "commas": "{:,}".format, "headed": headed,
        "asked": asked_for,
    }  # fmt: skip
    environment.globals |= {"SHARE": SHARE, "family": pass_context(_family)}
    environment.filters["macros"] = pass_context(_family)
    return environment


def _family(context: Context, template: str) -> Any:
    """The macros of a family's template, which see what the page shows."""
    return context.environment.get_template(template).make_module(context.get_all())


def _of_a_kind(name: str) -> str | None:
    """The template of a kind of run, ``module:name``: a text in that module, or a file beside it.

    The name comes from the pages of the kind, never from a run.
    """
    module, _, own = name.partition(":")
    if not own:
        return None
    text = getattr(import_module(module), own, None)
    return text if isinstance(text, str) else files(module).joinpath(own).read_text(encoding="utf-8")


def render(template: str, **content: Any) -> str:
    """A template with its content."""
    return templates().get_template(template).render(**content)


def shown(text: object) -> str:
    """A text from anywhere, line by line, without what would act on the page's reading order or cannot be encoded."""
    whole = str(text)
    cut = f" … ({len(whole) - LONGEST:,} more characters)" if len(whole) > LONGEST else ""
    return "\n".join(plain(line) for line in encodable(whole[:LONGEST]).split("\n")) + cut


def number(value: float | None, unit: str | None = SHARE) -> str:
    """A value as people read it: shares in percent with two digits, others with four that count; a dash for none."""
    if value is None:
        return "–"
    if unit == SHARE:
        return f"{100 * value:.2f}"
    digits = ".0f" if value == round(value) else ".2f" if abs(value) >= 10 else ".4g"
    return format(value, digits).replace("-", "−")


def points(score: Score) -> str:
    """A value as a key number: one digit, without its sign."""
    if score.value is None:
        return "–"
    return f"{100 * score.value:.1f}" if score.unit == SHARE else number(score.value, score.unit)


def bound(value: float | None, unit: str | None) -> str:
    """An end of an interval beside a key number."""
    return "–" if value is None else f"{100 * value:.1f}" if unit == SHARE else number(value, unit)


def short_name(measure: str) -> str:
    """A measure as a heading: what is set is in words, not in the form of a call.

    >>> short_name("Inform(rules=grounded)"), short_name("F1(average=slot)[hotel]"), short_name("JGA")
    ('Inform grounded', 'F1 slot [hotel]', 'JGA')
    """
    name, bracket, rest = measure.partition("(")
    settings, closing, part = rest.partition(")")
    if not (name and bracket and closing):
        return measure
    words = " ".join(piece.partition("=")[2] or piece for piece in settings.split(","))
    return f"{name} {words} {part}".strip()


def score_text(score: Score) -> str:
    """A score with its sign for percent."""
    return number(score.value, score.unit) + ("%" if score.unit == SHARE and score.value is not None else "")


def interval_text(score: Score) -> str:
    """The interval of a score, empty where it has none."""
    if score.low is None or score.high is None:
        return ""
    return f"[{number(score.low, score.unit)}, {number(score.high, score.unit)}]"


def headed(name: str) -> Any:
    """The name of a run in a heading; a long one, with all settings of two agents, is whole only in its title."""
    whole = shown(name)
    if len(whole) <= _HEADING:
        return whole
    return Markup('<span title="{}">{} … {}</span>').format(whole, whole[: _HEADING - 20], whole[-17:])


def asked_for(facets: Mapping[str, str]) -> str:
    """The parameters of the list of dialogues that have these values."""
    return urlencode({name: sent(value) for name, value in facets.items()})


def signature_html(signature: str) -> Any:
    """A signature in its short form, which opens to all of it."""
    return Markup('<details class="signature"><summary>Signature: {}</summary><code>{}</code></details>').format(
        shown(screen_form(signature, _SIGNATURE)), shown(signature)
    )


def table_html(table: Table) -> Any:
    """A table of the report room, which escapes its texts itself."""
    bare = copy(table)
    bare.signature = ""
    bare.notes = [note for note in table.notes if note_kind(note) != OPTIONS]
    content = Markup(bare.render("html"))  # noqa: S704 - escaped where it is rendered
    below = signature_html(table.signature) if table.signature else ""
    return Markup('<div class="scroll" tabindex="0">{}{}</div>').format(content, below)
