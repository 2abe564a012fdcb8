"""MultiWOZ as published, brought into the layout that every command knows.

The archives hold all dialogues in ``data.json``, lists of the ids for testing and validation, and the database among
them. From that come ``train.json``, ``val.json`` and ``test.json``, which together are ``data.json``, and ``db/``.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from dialgauge.errors import DialgaugeError

_SPLITS = ("test", "val")
#: Files of ids, one in a line, whatever their ending says.
_LISTS = ("{}ListFile.txt", "{}ListFile.json", "{}ListFile")


def arrange(content: Path) -> None:
    """Divide the dialogues and move the database. An archive that holds no such files is left as it is."""
    for table in sorted(content.glob("*_db.json")):
        (content / "db").mkdir(exist_ok=True)
        table.rename(content / "db" / table.name)
    everything = content / "data.json"
    lists = {split: path for split in _SPLITS if (path := _list_file(content, split))}
    if everything.is_file() and len(lists) == len(_SPLITS):
        rest = _dialogues(everything)
        for split, path in lists.items():
            named = {_key(line) for line in path.read_text("utf-8").splitlines()}
            _write(content / f"{split}.json", {name: rest.pop(name) for name in list(rest) if _key(name) in named})
        _write(content / "train.json", rest)
        everything.unlink()


def _list_file(content: Path, split: str) -> Path | None:
    return next((path for name in _LISTS if (path := content / name.format(split)).is_file()), None)


def _dialogues(path: Path) -> dict[str, msgspec.Raw]:
    """Each dialogue as the bytes that it is, so that nothing of it can change."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DialgaugeError(f"the downloaded dialogues are not JSON ({error})", file=path.name) from error


def _write(target: Path, dialogues: dict[str, msgspec.Raw]) -> None:
    target.write_bytes(msgspec.json.encode(dialogues))


def _key(name: str) -> str:
    return name.strip().lower().removesuffix(".json")
