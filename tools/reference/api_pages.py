"""The Python reference, from the docstrings: the public names of ``dialgauge``, and the face of every room."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from tools.reference.markdown import prose, sections, table

FOLDER = "reference/api"
#: The modules whose public names have a page.
MODULES = (
    "dialgauge", "dialgauge.measures", "dialgauge.formats", "dialgauge.values", "dialgauge.tracking",
    "dialgauge.responses", "dialgauge.users", "dialgauge.tasks", "dialgauge.trials", "dialgauge.lab",
    "dialgauge.agents",
    "dialgauge.rankers", "dialgauge.runs", "dialgauge.comparison", "dialgauge.report", "dialgauge.stats",
    "dialgauge.engine",
)  # fmt: skip


def navigation() -> list[Any]:
    """The part of the site's navigation that names these pages."""
    return [{module: f"{FOLDER}/{module}.md"} for module in MODULES]


def api_pages() -> Iterator[tuple[str, str]]:
    """Path and text of every page."""
    for name in MODULES:
        module = import_module(name)
        public = {one: getattr(module, one) for one in module.__all__ if not one.startswith("__")}
        ours = {one: thing for one, thing in public.items() if inspect.isclass(thing) or inspect.isroutine(thing)}
        constants = {one: thing for one, thing in public.items() if one not in ours and not one.islower()}
        yield (
            f"{FOLDER}/{name}.md",
            sections(
                f"# {name}",
                _module_prose(module.__doc__),
                *(entry(one, thing) for one, thing in sorted(ours.items(), key=lambda pair: pair[0].lower())),
                "## Constants" if constants else "",
                table(("name", "value"), ((f"`{one}`", f"`{_short(thing)}`") for one, thing in constants.items())),
            ),
        )


def _module_prose(docstring: str | None) -> str:
    """The docstring; paragraphs that do not read like sentences are code."""
    first, *rest = inspect.cleandoc(docstring or "").split("\n\n")
    return sections(prose(first), *(prose(one) if _is_sentence(one) else f"```text\n{one}\n```" for one in rest))


def _is_sentence(paragraph: str) -> bool:
    return paragraph[:1].isupper() and paragraph.rstrip().endswith((".", ":"))


def entry(name: str, thing: Any) -> str:
    """What the page says of one name."""
    parts = [
        f"## {name}",
        f"```text\n{_signature(name, thing)}\n```",
        prose(thing.__doc__ if _documented(thing) else ""),
    ]
    if inspect.isclass(thing):
        rows = [
            (f"`{member}`", prose(_doc(found)).split("\n\n")[0])
            for member, found in vars(thing).items()
            if not member.startswith("_")
            and (inspect.isroutine(found) or isinstance(found, property | classmethod))
            and _doc(found)
        ]
        parts.append(table(("method or property", ""), rows))
    return sections(*parts)


def _documented(thing: Any) -> bool:
    return not (
        inspect.isclass(thing) and "__doc__" in vars(thing) and (thing.__doc__ or "").startswith(f"{thing.__name__}(")
    )


def _doc(member: Any) -> str:
    return inspect.getdoc(member) or ""


def _signature(name: str, thing: Any) -> str:
    try:
        text = str(inspect.signature(thing))
    except (TypeError, ValueError, NameError):  # NameError: a record whose annotations are imported for types alone
        return name
    text = re.sub(r"<(?:function|object) .*? at 0x\w+>", "...", text)
    text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", text)  # annotations are kept as texts
    return f"{name}{text}" if len(text) < 100 else f"{name}(\n    " + _split(text[1:]) if "(" in text else name


def _split(text: str) -> str:
    """Parameters one below the other: commas outside of brackets become line ends."""
    depth, out = 0, ""
    for character in text:
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
            if depth < 0:
                out += "\n"
                depth = 0
        out += character
        if character == "," and depth == 0:
            out += "\n   "
    return out


def _short(value: object) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 120 else text[:117] + "..."
