"""Unpacking a downloaded archive without trusting it.

Only plain files and folders come out, only below the target folder, and only up to a limit that is counted on the
bytes that really come, not on what the archive says.
"""

from __future__ import annotations

import lzma
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import IO, TypeAlias

from dialgauge.errors import DialgaugeError
from dialgauge.files import DISK_FULL

#: Name and content of one plain file after the other.
Members: TypeAlias = Generator[tuple[str, IO[bytes]], None, None]

DEFAULT_LIMIT = 8 << 30
MOST_MEMBERS = 100_000
_BLOCK = 1 << 20
_JUNK = {"__MACOSX", ".DS_Store"}
_BROKEN = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    RuntimeError,
    NotImplementedError,
    ValueError,
)


def unpack_archive(
    archive: Path,
    into: Path,
    *,
    strip: int = 0,
    only: tuple[str, ...] = (),
    limit: int = DEFAULT_LIMIT,
) -> list[Path]:
    """Unpack a zip or tar archive below ``into`` and give the files written, relative to it.

    ``strip`` leading folders are dropped from every member (never its own name); with ``only``, members that match none
    of the patterns after that are left out.
    """
    written: list[Path] = []
    left = limit
    with _unpacking_errors(archive), closing(_members(archive)) as members:
        for name, stream in members:
            if len(written) >= MOST_MEMBERS:
                raise DialgaugeError(f"the archive holds more than {MOST_MEMBERS:,} files", file=str(archive))
            target = _place(archive, name, strip)
            if _JUNK & set(PurePosixPath(name).parts) or (
                only and not any(fnmatch(str(target), pattern) for pattern in only)
            ):
                continue
            left -= _copy(stream, into / target, left, archive, limit)
            written.append(Path(target))
    if not written:
        raise DialgaugeError("the archive holds none of the expected files", file=str(archive))
    return sorted(written)


@contextmanager
def _unpacking_errors(archive: Path) -> Iterator[None]:
    try:
        yield
    except _BROKEN as error:
        raise DialgaugeError(f"the archive is damaged ({error}); fetch it again", file=str(archive)) from error
    except MemoryError as error:  # LZMA says itself how much it wants
        raise DialgaugeError("it needs more memory than there is; it is refused", file=str(archive)) from error
    except OSError as error:
        if error.errno in DISK_FULL:  # no fault of the archive
            raise
        raise DialgaugeError(f"it cannot be unpacked ({error.strerror or error})", file=str(archive)) from error


def _members(archive: Path) -> Members:
    """The plain files of the archive, one by one; anything that is neither file nor folder is refused."""
    if zipfile.is_zipfile(archive):
        return _zip_members(archive)
    if tarfile.is_tarfile(archive):
        return _tar_members(archive)
    raise DialgaugeError(
        "it is neither a zip nor a tar archive; the address may serve something else", file=str(archive)
    )


def _zip_members(archive: Path) -> Members:
    with zipfile.ZipFile(archive) as held:
        for item in held.infolist():
            kind = stat.S_IFMT(item.external_attr >> 16)
            if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise _refused(archive, item.filename, "is a link or a device")
            if item.flag_bits & 0x1:
                raise _refused(archive, item.filename, "is encrypted")
            if not item.filename.endswith("/"):
                with held.open(item) as stream:
                    yield item.filename, stream


def _tar_members(archive: Path) -> Members:
    with tarfile.open(archive, "r:*") as held:
        for item in held:
            if item.isdir():
                continue
            if not item.isreg():
                raise _refused(archive, item.name, "is a link or a device")
            stream = held.extractfile(item)
            if stream is not None:
                with stream:
                    yield item.name, stream


def _place(archive: Path, name: str, strip: int) -> PurePosixPath:
    """Where a member goes, relative to the target; a name that would leave the target is refused."""
    pure = PurePosixPath(name.replace("\\", "/"))
    if not pure.parts:
        raise _refused(archive, name, "has no name")
    if pure.is_absolute() or ".." in pure.parts or ":" in pure.parts[0] or "\x00" in name:
        raise _refused(archive, name, "points outside the archive")
    return PurePosixPath(*pure.parts[min(strip, len(pure.parts) - 1) :])


def _refused(archive: Path, member: str, why: str) -> DialgaugeError:
    return DialgaugeError(f"the member {member!r} {why}; the archive is refused", file=str(archive))


def _copy(stream: IO[bytes], target: Path, left: int, archive: Path, limit: int) -> int:
    """Copy a member and give its size; more than ``left`` bytes is an error."""
    target.parent.mkdir(parents=True, exist_ok=True)
    size = 0
    try:
        out = target.open("xb")
    except FileExistsError as error:
        raise DialgaugeError(f"the archive holds {target.name} twice; it is refused", file=str(archive)) from error
    with out:
        while block := stream.read(_BLOCK):
            size += len(block)
            if size > left:
                raise DialgaugeError(f"it unpacks to more than {limit:,} bytes; it is refused", file=str(archive))
            out.write(block)
    return size
