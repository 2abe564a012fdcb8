"""The JSON Schemas of what ``--json`` writes: one file for each kind of document, shipped with the package.

Every document has a field ``schema`` such as ``dialgauge/score/1``. The number changes when a field is removed, renamed
or changes its meaning; new fields do not change it. ``dialgauge schema NAME`` prints a schema, with the definitions of
``shared/definitions.json`` that it refers to.
"""

from __future__ import annotations

from pathlib import Path

#: Documents whose layout has changed since it was first published; all others are version 1.
_VERSIONS: dict[str, int] = {}
_FOLDER = Path(__file__).parent


def schema_id(name: str) -> str:
    """What a document says in its field ``schema``.

    >>> schema_id("score")
    'dialgauge/score/1'
    """
    return f"dialgauge/{name}/{_VERSIONS.get(name, 1)}"


def schema_names() -> list[str]:
    """The kinds of documents."""
    return sorted(path.stem for path in _FOLDER.glob("*.json"))


def schema_text(name: str) -> str:
    """The JSON Schema of a kind of document."""
    import json

    from dialgauge.errors import DialgaugeError, nearest

    names = schema_names()
    if name not in names:
        raise DialgaugeError(f"unknown schema '{name}'.{nearest(name, names)}")
    text = (_FOLDER / f"{name}.json").read_text(encoding="utf-8")
    shared = json.loads((_FOLDER / "shared" / "definitions.json").read_text(encoding="utf-8"))
    used = {word: meaning for word, meaning in shared.items() if f'"#/$defs/{word}"' in text}
    schema = json.loads(text)
    if used:
        schema["$defs"] = used | schema.get("$defs", {})
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
