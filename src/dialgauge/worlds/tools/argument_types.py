"""Types of a tool's parameters: which values fit, and the JSON Schema that says so to a model.

Nothing is converted. An integer may stand for a float, a truth value for neither. A TypedDict may have further keys.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from dialgauge.worlds.tools.marking import UNCHECKED

_SCALARS: dict[Any, tuple[tuple[type, ...], str, str]] = {
    str: ((str,), "a text", "string"),
    bool: ((bool,), "true or false", "boolean"),
    int: ((int,), "a whole number", "integer"),
    float: ((int, float), "a number", "number"),
    None: ((type(None),), "null", "null"),
    type(None): ((type(None),), "null", "null"),
}
_ANYTHING = (Any, object)


def mismatch(value: Any, hint: Any, path: str) -> str | None:
    """What is wrong with a value, as a sentence that begins with its path; None where it fits."""
    if hint in _SCALARS:
        kinds, noun, _ = _SCALARS[hint]
        fits = isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))
        return None if fits else f"{path} must be {noun} (got {_shown(value)})"
    origin, parts = get_origin(hint), get_args(hint)
    if hint in _ANYTHING or (origin is Annotated and UNCHECKED in hint.__metadata__):
        return None
    if origin in (Annotated, Required, NotRequired):
        return mismatch(value, parts[0], path)
    if origin is Literal:
        known = any(value == each and type(value) is type(each) for each in parts)
        return None if known else f"{path} must be one of {', '.join(map(str, parts))} (got {_shown(value)})"
    if origin in (Union, types.UnionType):
        problems = [mismatch(value, part, path) for part in parts]
        return None if None in problems else problems[0]
    if is_typeddict(hint):
        return _keys_mismatch(value, hint, path)
    if hint is list or origin is list:
        return _items_mismatch(value, parts, path)
    if not isinstance(value, dict):
        return f"{path} must be an object (got {_shown(value)})"
    inner = parts[1] if len(parts) == 2 else Any
    return next(
        (problem for key, entry in value.items() if (problem := mismatch(entry, inner, f"{path}.{key}"))),
        None,
    )


def _items_mismatch(value: Any, parts: tuple[Any, ...], path: str) -> str | None:
    if not isinstance(value, list):
        return f"{path} must be a list (got {_shown(value)})"
    inner = parts[0] if parts else Any
    problems = (mismatch(element, inner, f"{path}[{index}]") for index, element in enumerate(value))
    return next((problem for problem in problems if problem), None)


def _keys_mismatch(value: Any, hint: Any, path: str) -> str | None:
    if not isinstance(value, dict):
        return f"{path} must be an object (got {_shown(value)})"
    hints = get_type_hints(hint, include_extras=True)
    if missing := [key for key in _required(hint, hints) if key not in value]:
        return f"{path} lacks {', '.join(missing)}"
    return next(
        (
            problem
            for key, inner in hints.items()
            if key in value and (problem := mismatch(value[key], inner, f"{path}.{key}"))
        ),
        None,
    )


def _required(hint: Any, hints: Mapping[str, Any]) -> list[str]:
    """Keys that a TypedDict must have. Where annotations are texts, the class itself overlooks ``NotRequired``."""
    return [key for key in hints if key in hint.__required_keys__ and get_origin(hints[key]) is not NotRequired]


def schema_of(hint: Any) -> dict[str, Any]:
    """The JSON Schema of a type."""
    if hint in _SCALARS:
        return {"type": _SCALARS[hint][2]}
    origin, parts = get_origin(hint), get_args(hint)
    if hint in _ANYTHING:
        return {}
    if origin in (Annotated, Required, NotRequired):
        return schema_of(parts[0])
    if origin is Literal:
        return {"enum": list(parts)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [schema_of(part) for part in parts]}
    if is_typeddict(hint):
        hints = get_type_hints(hint, include_extras=True)
        properties = {key: schema_of(inner) for key, inner in hints.items()}
        return {
            "type": "object",
            "properties": properties,
            "required": _required(hint, hints),
        }
    if hint is list or origin is list:
        return {"type": "array", **({"items": schema_of(parts[0])} if parts else {})}
    return {"type": "object", **({"additionalProperties": schema_of(parts[1])} if len(parts) == 2 else {})}


def unknown_type(hint: Any) -> str | None:
    """The part of a type that a tool cannot have; None where all of it can be checked."""
    origin, parts = get_origin(hint), get_args(hint)
    if hint in _SCALARS or hint in _ANYTHING or origin is Literal or hint in (list, dict):
        return None
    if is_typeddict(hint):
        inner: tuple[Any, ...] = tuple(get_type_hints(hint, include_extras=True).values())
    elif origin in (list, Union, types.UnionType):
        inner = parts
    elif origin in (Annotated, Required, NotRequired):
        inner = parts[:1]
    elif origin is dict and len(parts) == 2 and parts[0] is str:
        inner = parts[1:]
    else:
        return getattr(hint, "__name__", str(hint))
    return next((problem for part in inner if (problem := unknown_type(part))), None)


def missing_or_surplus(given: Mapping[str, Any], known: Mapping[str, bool]) -> str | None:
    """Which arguments are missing or surplus; ``known`` says of each parameter whether it is required."""
    if missing := [name for name, required in known.items() if required and name not in given]:
        return f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"
    if surplus := [name for name in given if name not in known]:
        return f"there is no parameter {', '.join(surplus)}"
    return None


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}…"
