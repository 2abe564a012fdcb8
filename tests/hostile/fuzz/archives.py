"""Archives that lie: odd member names, methods, sizes and types, damaged bytes, bombs."""

from __future__ import annotations

import gzip
import io
import lzma
import stat
import struct
import tarfile
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from random import Random

from dialgauge.errors import DialgaugeError
from dialgauge.formats import recognise, resolve
from hostile.fuzz.mutations import damage_bytes
from hostile.fuzz.target import Target, in_file
from support.examples import EXAMPLES

_NAMES = (
    "test.json", "a/b.json", "../up.json", "/abs.json", "", ".", "a\\b.json", "C:x.json", "\x1b[2J.json", "é.json",
    "__MACOSX/x.json", ".hidden", "README.md", "x" * 300, "a/" * 200 + "x.json", "\u202ex.json", "test.json.gz", "a//b",
    "test.json/", "nul\x00.json",
)  # fmt: skip
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
_CONTENTS = (EXAMPLES["mwzeval"], EXAMPLES["nested"], EXAMPLES["native"], b"", b"\x00" * 5000, b"x")


def archive_targets() -> Iterator[Target]:
    """Archives as sources of dialogues, and as downloads of datasets."""
    yield Target("archive:read", make_archive, opened, weight=50)
    yield Target("archive:unpack", make_archive, unpacked, weight=50)


def opened(content: bytes, folder: Path) -> None:
    """Every part of an archive, read."""
    failure: DialgaugeError | None = None
    for part in resolve(in_file(folder, content, "archive.zip"), limit=50_000_000):
        try:
            part.read()
            recognise(part)
        except DialgaugeError as error:
            failure = error
    if failure is not None:
        raise failure


def unpacked(content: bytes, folder: Path) -> None:
    """``dialgauge data get``: the archive of a dataset, below its folder and nowhere else."""
    from dialgauge.data import unpack_archive

    inside = folder / "deep" / "inside"
    try:
        unpack_archive(in_file(folder, content, "archive.zip"), inside, limit=50_000_000)
    finally:
        strangers = {item.name for item in folder.iterdir()} - {"archive.zip", "deep"}
        strangers |= {item.name for item in (folder / "deep").iterdir()} - {"inside"} if inside.exists() else set()
        assert not strangers, f"unpacked outside the folder: {strangers}"


def make_archive(chance: Random) -> bytes:
    """A zip, tar or gzip file, as it should be or not."""
    match chance.randrange(7):
        case 0 | 1 | 2:
            made = _zip(chance)
        case 3 | 4:
            made = _tar(chance)
        case 5:
            made = gzip.compress(chance.choice(_CONTENTS), mtime=0)
        case _:
            made = _gzip_of_zeros(chance)
    if chance.random() < 0.3 and len(made) < 100_000:
        made = chance.choice((gzip.compress, lzma.compress, zlib.compress))(made)
    return damage_bytes(made, chance) if chance.random() < 0.6 else made


def _members(chance: Random) -> list[tuple[str, bytes]]:
    """Files, mostly with names that pass, so that what is behind the names is reached."""
    sound = ("test.json", "a/b.json", "b.json")
    return [
        (chance.choice(_NAMES if chance.random() < 0.2 else sound), chance.choice(_CONTENTS))
        for _ in range(chance.randint(0, 4))
    ]


def _zip(chance: Random) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a name that is there twice is meant
        for name, content in _members(chance):
            item = zipfile.ZipInfo(name)
            item.compress_type = chance.choice(_METHODS)
            if chance.random() < 0.1:
                item.external_attr = chance.choice((stat.S_IFLNK, stat.S_IFIFO, stat.S_IFDIR)) << 16
            archive.writestr(item, content)
    made = bytearray(held.getvalue())
    if chance.random() < 0.3:
        _lie_in_a_header(made, chance)
    return bytes(made)


def _lie_in_a_header(made: bytearray, chance: Random) -> None:
    """Overwrite a field of a local or central header: flags, method, checksum, sizes, lengths of names."""
    marks = (b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06")
    at = made.find(chance.choice(marks))
    if at < 0:
        return
    field = at + chance.choice((4, 6, 8, 10, 14, 18, 20, 22, 24, 26, 28, 30, 38, 42))
    value = chance.choice((0, 1, 2, 9, 14, 99, 255, 0x800, 0xFFFF))
    struct.pack_into("<H", made, min(field, len(made) - 2), value)


def _tar(chance: Random) -> bytes:
    held = io.BytesIO()
    kind = chance.choice((tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT))
    encoding = chance.choice(("utf-8", "latin-1"))
    with tarfile.open(fileobj=held, mode="w", format=kind, encoding=encoding, errors="replace") as archive:
        for name, content in _members(chance):
            item = tarfile.TarInfo(name[:90].replace("\x00", ""))
            item.size = len(content)
            item.type = chance.choice((tarfile.REGTYPE,) * 6 + (tarfile.SYMTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE))
            item.linkname = chance.choice(("", "../x", "/etc/passwd"))
            archive.addfile(item, io.BytesIO(content))
    made = bytearray(held.getvalue())
    if chance.random() < 0.4 and len(made) >= 512:
        at = chance.choice((0, 100, 124, 136, 148, 156, 257, 345))
        made[at : at + 4] = chance.choice(
            (b"\x80\x00\x00\x01", b"\xff\xff\xff\xff", b"9999", b"\xe9\xe9\x00\x00", b"x")
        )
    return bytes(made)


def _gzip_of_zeros(chance: Random) -> bytes:
    size = 5_000_000 if chance.random() < 0.05 else 100_000
    return gzip.compress(b"\x00" * size, mtime=0, compresslevel=1)
