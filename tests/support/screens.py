"""What a terminal shows of a command: without colours, and its words in 80 columns against those of a wide screen."""

from __future__ import annotations

import re
from collections.abc import Iterator


def uncoloured(text: str) -> str:
    """The text without what steers a terminal."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


def unknown_words(narrow: str, wide: str) -> Iterator[str]:
    """Words of the narrow screen that are no words, nor shortened or folded ones, of the wide one."""
    known = set(re.split(r"[\s|]+", wide))
    known |= {word.strip("(),:;.") for word in known}
    own = re.sub(r"Left out to fit 80 columns: .*?\(--wide[^)]*\)\.?", "", narrow, flags=re.DOTALL)
    own = re.sub(r"\S+ (names|ids) (are shortened )?\(…\)[^.]*\.", "", own)
    own = own.replace("--wide and files have the settings of each score.", "")
    own = re.sub(r"Signature: sig:[0-9a-f]{8}", "", own)
    for word in set(re.split(r"[\s|]+", own)) - known:
        parts = re.compile(".*".join(map(re.escape, word.split("…"))))
        cut = "…" in word and any(parts.fullmatch(one) for one in known)
        said = word.strip("(),:;.") in known
        if not (cut or said or set(word) == {"─"} or is_part_of_a_name(word, known)):
            yield word


def is_part_of_a_name(part: str, names: set[str]) -> bool:
    """Whether a name was folded between its parts: after a comma or a slash, or before a bracket; never at - = or _."""
    return any(
        part in name
        and (name.endswith(part) or part[-1] in "/," or name.split(part, 1)[1].startswith("("))
        and (name.startswith(part) or part[0] == "(" or name.split(part, 1)[0][-1:] in tuple("/,"))
        for name in names
    )
