"""Damage to content: to its bytes, to the structure of its JSON, to the lines of its text."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from random import Random
from typing import Any, TypeAlias

Mutation: TypeAlias = Callable[[bytes, Random], bytes]

#: Bytes that parsers look at twice.
PIECES = (
    b"{", b"}", b"[", b"]", b'"', b",", b":", b"'", b"null", b"true", b"NaN", b"1e999", b"-1", b"0x", b"\\u0000",
    b"\\ud800", b"\x00", b"\xff", b"\xc3", b"\xef\xbb\xbf", b"\n", b"\r", b"\t", b"\x1b[31m", b"\xe2\x80\xae", b"",
    b"9" * 400, b"[" * 300, b'{"a":' * 300, b"\\", b"%", b"&a ", b"*a", b"<<: *a\n", b"!!int ", b"- ", b"? ",
)  # fmt: skip
#: Values that take another's place in JSON.
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 2**53, 2**63, 10**400, 1.5, -0.0, 1e308, "", " ", "x", "none", "?", "dontcare", "\x00",
    "\x1b]0;x\x07", "\u202e", "\ud800", "=1+1", "[/bold]", "*", "a" * 5000, "ß" * 50, [], {}, [[]], [None], {"": ""},
    {"a": {"b": {"c": {}}}}, [1, "a", None, {}], [[[[[[]]]]]],
)  # fmt: skip


def damage_bytes(content: bytes, chance: Random) -> bytes:
    """Bytes replaced, inserted, repeated, moved or cut off, one to four times."""
    changed = bytearray(content)
    for _ in range(chance.choice((1, 1, 1, 2, 3, 4))):
        at = chance.randrange(len(changed) + 1)
        match chance.randrange(6):
            case 0:
                changed[at : at + chance.randint(1, 4)] = chance.choice(PIECES)
            case 1:
                changed[at:at] = chance.choice(PIECES)
            case 2:
                there = chance.randrange(len(changed) + 1)
                changed[at:at] = changed[there : there + chance.randint(1, 60)]
            case 3:
                del changed[at : at + chance.randint(1, 40)]
            case 4:
                del changed[at:]
            case _:
                if at < len(changed):
                    changed[at] = chance.randrange(256)
    return bytes(changed)


def damage_json(content: bytes, chance: Random) -> bytes:
    """The same JSON with values replaced, keys renamed, repeated or left out; bytes where it is no JSON."""
    try:
        value = json.loads(content)
    except ValueError:
        return _damage_json_lines(content, chance)
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        value = _changed(value, chance)
    text = json.dumps(value, ensure_ascii=chance.random() < 0.5, indent=chance.choice((None, 1)))
    if chance.random() < 0.1:
        text = _with_a_key_twice(text, chance)
    return text.encode("utf-8", "surrogatepass")


def _damage_json_lines(content: bytes, chance: Random) -> bytes:
    lines = content.split(b"\n")
    at = chance.randrange(len(lines))
    try:
        json.loads(lines[at])
    except ValueError:
        return damage_text(content, chance)
    lines[at] = damage_json(lines[at], chance).replace(b"\n", b" ")
    return b"\n".join(lines)


def _changed(value: Any, chance: Random) -> Any:
    """A copy with one change somewhere inside."""
    whole = [copy.deepcopy(value)]
    places = list(_places(whole))
    holder, key = chance.choice(places[1:] or places)
    match chance.randrange(10):
        case 0 | 1:
            holder[key] = chance.choice(VALUES)
        case 7 | 8 | 9:
            holder[key] = _alike(holder[key], chance)
        case 3:
            del holder[key]
        case 4 if isinstance(holder, dict):
            holder[_odd_key(chance, key)] = holder.pop(key)
        case 4 | 5:
            other, name = chance.choice(places)
            holder[key] = copy.deepcopy(other[name]) if _has(other, name) else None
        case _:
            inner = holder[key]
            if isinstance(inner, list) and inner:
                inner.append(copy.deepcopy(chance.choice(inner)))
            elif isinstance(inner, dict):
                inner[_odd_key(chance, "x")] = chance.choice(VALUES)
            else:
                holder[key] = [inner]
    return whole[0] if whole else None


def _alike(value: Any, chance: Random) -> Any:
    """Another value of the same type, so that the damage gets past the first look at types."""
    return chance.choice([one for one in VALUES if type(one) is type(value)] or [value])


def _has(holder: Any, key: Any) -> bool:
    return key in holder if isinstance(holder, dict) else key < len(holder)


def _odd_key(chance: Random, key: Any) -> str:
    return chance.choice(
        ("", "0", "-1", "x", "\x1b[2J", "MUL0001.json", "mul0001", f"{key}.json", f"{key} ", "__class__")
    )


def _places(value: Any) -> Any:
    """Every holder and key inside, in order."""
    keys = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(keys):
        yield value, key
        if isinstance(inner, dict | list):
            yield from _places(inner)


def _with_a_key_twice(text: str, chance: Random) -> str:
    pieces = text.split('": ')
    if len(pieces) < 3:
        return text
    key = chance.choice(pieces[:-1]).rpartition('"')[2]
    at = chance.randrange(1, len(pieces))
    return '": '.join(pieces[:at]) + f'": 1, "{key}": ' + '": '.join(pieces[at:])


def damage_text(content: bytes, chance: Random) -> bytes:
    """Lines repeated, swapped, dropped, cut, indented or joined; words exchanged."""
    lines = content.split(b"\n")
    for _ in range(chance.randint(1, 3)):
        at, there = chance.randrange(len(lines)), chance.randrange(len(lines))
        match chance.randrange(6):
            case 0:
                lines.insert(at, lines[there])
            case 1:
                lines[at], lines[there] = lines[there], lines[at]
            case 2 if len(lines) > 1:
                del lines[at]
            case 3:
                lines[at] = b"  " + lines[at]
            case 4:
                words = lines[at].split(b" ")
                words[chance.randrange(len(words))] = chance.choice((*PIECES, *lines[there].split(b" ")))
                lines[at] = b" ".join(words)
            case _:
                lines[at] = damage_bytes(lines[at], chance)
    return b"\n".join(lines)


def damage_yaml(content: bytes, chance: Random) -> bytes:
    """Lines moved, and scalars replaced by what YAML finds meaning in."""
    if chance.random() < 0.4:
        return damage_text(content, chance)
    lines = content.split(b"\n")
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(lines))
        key, colon, _ = lines[at].partition(b":")
        lines[at] = key + colon + b" " + chance.choice(SCALARS) if colon else chance.choice(SCALARS)
    return b"\n".join(lines)


SCALARS = (
    b"2020-99-99", b"!!bool x", b'!!int ""', b"!!float x", b"!!binary x", b"9" * 5000, b"0x" + b"f" * 5000, b"1:1:1",
    b"{[a]: b}", b"? [a]", b"a{9999999999999}", b"(" * 500 + b")" * 500, b"'(a+)+$'", b"[", b"{", b"&a [*a]",
    b"*nobody", b"&a {k: v}", b"{<<: *a}", b"!!python/object:os.system x", b"!!set {a, b}", b"!!omap [a: 1]",
    b"~", b"no", b".inf", b".nan", b"-0", b"1e999", b"''", b'"\\ud800"', b'"\\x1b[31m"', b"|", b">-", b"=", b"<<",
    b"[[[[[[[[[[[[[[]]]]]]]]]]]]]]", b"{a: {b: {c: {d: e}}}}", b"- - - - x", b"!<tag:yaml.org,2002:int> x", b"%TAG",
    b"12:30:45", b"2001-12-14t21:59:43.10-05:00", b"0o7", b"0b2", b"+", b"\xef\xbb\xbf", b"[1, 2", b"(?P<a>b)(?P<a>c)",
)  # fmt: skip

#: For content that is JSON, or JSON lines.
JSON: tuple[Mutation, ...] = (damage_bytes, damage_json, damage_json)
TEXT: tuple[Mutation, ...] = (damage_bytes, damage_text)
YAML: tuple[Mutation, ...] = (damage_bytes, damage_yaml, damage_yaml)
BYTES: tuple[Mutation, ...] = (damage_bytes,)
