"""Facts about some dialogues that add up to those about all of them, whatever file or batch each came in."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, TypeVar

from msgspec import Struct, structs

S = TypeVar("S", bound=Struct)


def joined(parts: Sequence[S]) -> S:
    """One record of those of disjoint dialogues: each field is added by what it holds."""
    columns = zip(*map(structs.astuple, parts), strict=True)
    return type(parts[0])(**dict(zip(parts[0].__struct_fields__, map(_added, columns), strict=True)))


def _added(values: Sequence[Any]) -> Any:
    """Numbers are summed, flags hold if one does, of texts the first counts; what is not known counts for nothing."""
    known = [value for value in values if value is not None]
    first = known[0] if known else None
    match first:
        case Struct():
            return type(first).joined(known) if hasattr(first, "joined") else joined(known)
        case bool():
            return any(known)
        case int():
            return sum(known)
        case str():
            return next(filter(None, known), "")
        case dict():
            return _merged(known)
        case frozenset():
            return frozenset().union(*known)
        case list():
            return list(chain.from_iterable(known))
        case tuple():  # of numbers, each with those in its place
            sums = tuple(map(sum, zip(*known, strict=True)))
            make: Any = type(first)
            return make(*sums) if hasattr(first, "_fields") else sums
    return first


def _merged(parts: Sequence[dict[Any, Any]]) -> dict[Any, Any]:
    whole = dict(parts[0])
    for part in parts[1:]:
        for key, value in part.items():
            if isinstance(value, int):
                whole[key] = whole.get(key, 0) + value
            else:
                whole[key] = _added((whole[key], value)) if isinstance(value, frozenset) and key in whole else value
    return whole
