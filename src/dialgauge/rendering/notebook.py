"""What a notebook shows of tables, corpora and dialogues: HTML that brings its own few rules of style.

Colours are shades of grey that let the page's own show through, so that it reads in light and in dark notebooks.
Every text is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import PurePath
from typing import TYPE_CHECKING

from dialgauge.rendering.render import escape, render_html
from dialgauge.rendering.table import Table
from dialgauge.text import counted

if TYPE_CHECKING:
    from dialgauge.dialogue import Act, Dialogue, Goal, State, Turn
    from dialgauge.formats import Corpus

_STYLE = """<style>
.dialgauge { overflow-x: auto; margin: .5em 0 1em; color: inherit; }
.dialgauge table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px; margin: 0;
  border: 0; color: inherit; }
.dialgauge caption { text-align: left; font-weight: 600; padding: .3em 0; color: inherit; caption-side: top; }
.dialgauge th, .dialgauge td { text-align: left; vertical-align: top; padding: .2em .8em .2em 0; border: 0;
  border-bottom: 1px solid #8884; background: transparent; white-space: nowrap; }
.dialgauge th { border-bottom: 2px solid #8888; }
.dialgauge th.n, .dialgauge td.n { text-align: right; }
.dialgauge td.long, .dialgauge td.said { white-space: normal; min-width: 16em; max-width: 34em; }
.dialgauge td small { opacity: .7; }
.dialgauge p.note, .dialgauge p.about { font-size: 12px; opacity: .75; overflow-wrap: anywhere; margin: .3em 0; }
.dialgauge tr.system td { background: #8881; }
.dialgauge tr:nth-child(n) { background: transparent; }
.dialgauge td.state { white-space: normal; min-width: 12em; }
.dialgauge summary { cursor: pointer; font-size: 12px; opacity: .75; }
</style>"""

#: Dialogues of a corpus and turns of a dialogue that are shown, and letters of what opens a dialogue.
_DIALOGUES, _TURNS, _OPENING = 5, 200, 80


def notebook_html(parts: Iterable[Table | str], folded: Iterable[Table] = ()) -> str:
    """Tables and texts as a notebook shows them; tables that are ``folded`` open at a click."""
    blocks = [_block(_text_html(part) if isinstance(part, str) else render_html(part)) for part in parts]
    for table in folded:
        inner = f"<details><summary>{escape(table.title)}</summary>{render_html(table, captioned=False)}</details>"
        blocks.append(_block(inner))
    return "\n".join([_STYLE, *blocks])


def corpus_html(corpus: Corpus) -> str:
    """A corpus: how much it holds, what is recorded, and its first dialogues."""
    turns = [turn for dialogue in corpus for turn in dialogue.turns]
    name = PurePath(corpus.source).name or "Corpus"
    title = f"{name}: {counted(len(corpus), 'dialogue')}, {counted(len(turns), 'turn')}"
    table = Table(title, ["dialogue", "turns", "domains", "begins with"])
    for dialogue in corpus.dialogues[:_DIALOGUES]:
        table.add(dialogue.id, len(dialogue.turns), ", ".join(dialogue.domains), _opening(dialogue))
    if len(corpus) > _DIALOGUES:
        table.notes.append(f"and {len(corpus) - _DIALOGUES:,} more")
    names = ("text", "acts", "state", "predicted")
    recorded = [f"{name} {sum(getattr(turn, name) not in (None, '') for turn in turns):,}" for name in names]
    table.notes.append(f"Format: {corpus.format}. Turns that have: {', '.join(recorded)}.")
    if corpus.notes.counts:
        counts = ", ".join(f"{what} ({count:,})" for what, count in corpus.notes.counts.items())
        table.notes.append(f"When it was read: {counts}.")
    return notebook_html([table])


def dialogue_html(dialogue: Dialogue) -> str:
    """A dialogue turn by turn, with its states: what a turn puts into one in bold, what it takes away struck out."""
    kinds = [kind for kind in ("state", "predicted") if any(getattr(turn, kind) is not None for turn in dialogue.turns)]
    names = {"state": "gold state", "predicted": "predicted state"}
    heads = ["speaker", "text", *(names[kind] for kind in kinds)]
    before: dict[str, State] = {}
    rows = []
    for number, turn in enumerate(islice(dialogue.turns, _TURNS)):
        states = [_state_html(getattr(turn, kind), before.get(kind, {})) for kind in kinds]
        before |= {kind: state for kind in kinds if (state := getattr(turn, kind)) is not None}
        cells = [f'<td class="n">{number}</td><td>{turn.speaker}</td><td class="said">{_said(turn)}</td>']
        cells += [f'<td class="state">{state}</td>' for state in states]
        rows.append(f'<tr class="{turn.speaker}">{"".join(cells)}</tr>')
    titles = '<th class="n">turn</th>' + "".join(f"<th>{head}</th>" for head in heads)
    more = len(dialogue.turns) - _TURNS
    about = [*_about(dialogue), *([f"and {counted(more, 'turn')} more"] if more > 0 else [])]
    return "\n".join(
        [
            _STYLE,
            _block(
                f"<table><caption>Dialogue {escape(dialogue.id)}</caption><thead><tr>{titles}</tr></thead><tbody>"
                + "\n".join(rows)
                + "</tbody></table>"
                + "".join(f'<p class="about">{escape(line)}</p>' for line in about)
            ),
        ]
    )


def _text_html(text: str) -> str:
    return "<pre>" + "\n".join(map(escape, text.splitlines())) + "</pre>"


def _block(html: str) -> str:
    return f'<div class="dialgauge">{html}</div>'


def _opening(dialogue: Dialogue) -> str:
    first = next((turn.text for turn in dialogue.turns if turn.text), "")
    return first if len(first) <= _OPENING else f"{first[:_OPENING]}…"


def _about(dialogue: Dialogue) -> Iterator[str]:
    if dialogue.domains:
        yield f"Domains: {', '.join(dialogue.domains)}."
    if dialogue.goal is not None:
        yield f"Goal: {_goal(dialogue.goal)}."
    outcome = dialogue.outcome
    if outcome is not None:
        verdict = {None: "not judged", True: "the task was done", False: "the task was not done"}[outcome.success]
        yield f"Outcome: {verdict}{f' ({outcome.reason})' if outcome.reason else ''}."


def _goal(goal: Goal) -> str:
    wishes = []
    for domain, task in goal.tasks.items():
        asked = [f"{slot} {value}" for slot, value in {**task.info, **task.book}.items()]
        asked += [f"asks for {', '.join(task.requests)}"] if task.requests else []
        wishes.append(f"{domain}: {', '.join(asked) or 'anything'}")
    return "; ".join(wishes) or " ".join(goal.instruction).rstrip(".") or "none"


def _said(turn: Turn) -> str:
    acts = "; ".join(map(_act, turn.acts or ()))
    return escape(turn.text) if turn.text else f"<small>{escape(acts)}</small>"


def _act(act: Act) -> str:
    slot = f"{act.slot}={'|'.join(act.values)}" if act.values else act.slot
    return f"{act.name}({', '.join(filter(None, (act.domain, slot)))})"


def _state_html(state: State | None, before: State) -> str:
    """The slots of a state; those that are new or other than before in bold, those that are gone struck out."""
    if state is None:
        return ""
    now, then = _slots(state), _slots(before)
    if now and now == then:
        return "<small>as before</small>"
    shown = [_slot(name, values, "" if then.get(name) == values else "strong") for name, values in now.items()]
    shown += [_slot(name, values, "s") for name, values in then.items() if name not in now]
    return "<br>".join(shown) or "<small>empty</small>"


def _slots(state: State) -> dict[str, str]:
    return {f"{domain}-{slot}": " | ".join(values) for domain, slots in state.items() for slot, values in slots.items()}


def _slot(name: str, values: str, tag: str) -> str:
    text = escape(f"{name}: {values}")
    return f"<{tag}>{text}</{tag}>" if tag else text
