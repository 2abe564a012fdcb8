"""Getting a dataset into its folder, whole or not at all."""

from __future__ import annotations

import gzip
import hashlib
import os
import shutil
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

import msgspec
from msgspec import Struct

from dialgauge import formats
from dialgauge.data.datasets import RECEIPT, Dataset, Folder, Receipt, Remote
from dialgauge.data.fetch import Patience, TransferProgress, fetch_file
from dialgauge.errors import DialgaugeError
from dialgauge.files import sha256_of, writing
from dialgauge.locks import locked, try_lock

OFFLINE_VARIABLE = "DIALGAUGE_OFFLINE"

#: Called before each download with its file name; gives the function that hears of its progress.
Watcher = Callable[[str], TransferProgress]


class InstalledDataset(Struct, frozen=True):
    """What ``get`` did: where the dataset is, whether it was there before, and which files were trusted unseen."""

    path: Path
    fetched: bool
    trusted: tuple[str, ...] = ()


def offline() -> bool:
    """Is the network forbidden by ``DIALGAUGE_OFFLINE``?"""
    return os.environ.get(OFFLINE_VARIABLE, "").strip().lower() not in ("", "0", "false", "no")


def get(
    dataset: Dataset,
    folder: Folder,
    *,
    network: bool = True,
    watcher: Watcher | None = None,
    patience: Patience | None = None,
) -> InstalledDataset:
    """Fetch a dataset unless it is there. Two processes that want the same one wait for each other.

    A folder that somebody else put there counts if the catalogue knows all files, and all are there and right.
    """
    target = folder.path(dataset.name)
    clear_leftovers(folder)
    if folder.receipt(dataset.name) is not None:
        return InstalledDataset(target, fetched=False)
    if not network:
        raise DialgaugeError(
            f"the dataset {dataset.name} is not in {folder.root} and the network is switched off "
            f"({OFFLINE_VARIABLE}); fetch it where there is a network and copy the folder {dataset.name}"
        )
    with locked(folder.lock_file(dataset.name)):
        if folder.receipt(dataset.name) is not None:
            return InstalledDataset(target, fetched=False)
        if target.exists():
            if dataset.checksums_known and is_intact(dataset, target):
                return InstalledDataset(target, fetched=False)
            raise DialgaugeError(
                "this folder is in the way: dialgauge did not put it there; move it or set another DIALGAUGE_DATA "
                f"than {folder.root}",
                file=str(target),
            )
        return _Installation(dataset, folder, watcher, patience).run()


def is_intact(dataset: Dataset, place: Path) -> bool:
    """Whether every file the catalogue knows is there unchanged, plain or as ``NAME.gz``."""
    known = dataset.known_members
    return bool(known) and all(_is_file(place / path, member.sha256) for path, member in known.items())


def _is_file(path: Path, checksum: str) -> bool:
    packed = path.with_name(f"{path.name}.gz")
    try:
        if path.exists() or not packed.exists():
            return sha256_of(path) == checksum
        with gzip.open(packed, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest() == checksum
    except (OSError, EOFError, zlib.error):
        return False


def clear_leftovers(folder: Folder) -> None:
    """Delete what killed processes left: half-built folders, and downloads of datasets that are in place.

    Half a download stays: the next ``get`` goes on with it. What another process works on is locked, and left alone.
    """
    for kind in ("staging", "downloads"):
        for leftover in sorted((folder.work / kind).glob("*")):
            if kind == "staging" or _has_receipt(folder, leftover.name):
                _delete_unless_locked(leftover, folder.lock_file(leftover.name))


def _has_receipt(folder: Folder, name: str) -> bool:
    try:
        return folder.receipt(name) is not None
    except DialgaugeError:
        return False


def _delete_unless_locked(leftover: Path, lock_file: Path) -> None:
    with suppress(OSError):  # nothing can be written here, so nothing can be deleted
        if lock := try_lock(lock_file):
            shutil.rmtree(leftover, ignore_errors=True)
            lock.release()


class _Installation:
    """Download everything, unpack it beside its place, check it, write the receipt, and move it there in one step."""

    def __init__(
        self,
        dataset: Dataset,
        folder: Folder,
        watcher: Watcher | None,
        patience: Patience | None,
    ) -> None:
        self.dataset, self.folder = dataset, folder
        self.watcher, self.patience = watcher, patience

    def run(self) -> InstalledDataset:
        downloads = self.folder.work / "downloads" / self.dataset.name
        checksums: dict[str, str] = {}
        with _staging(self.folder, self.dataset.name) as staging, writing(self.folder.path(self.dataset.name)):
            content = staging / "content"
            content.mkdir()
            for number, remote in enumerate(self.dataset.remotes):
                archive = downloads / f"{number:03d}-{remote.file_name}"
                checksums[remote.url] = self._download(remote, archive)
                self._place(remote, archive, content)
            if self.dataset.layout == "multiwoz":
                arrange_multiwoz(content)
            self._compare_members(content)
            receipt = Receipt(dataset=self.dataset.name, downloads=checksums)
            (content / RECEIPT).write_bytes(msgspec.json.format(msgspec.json.encode(receipt)) + b"\n")
            content.rename(self.folder.path(self.dataset.name))
        shutil.rmtree(downloads, ignore_errors=True)
        trusted = tuple(remote.url for remote in self.dataset.remotes if not remote.sha256)
        return InstalledDataset(self.folder.path(self.dataset.name), fetched=True, trusted=trusted)

    def _download(self, remote: Remote, target: Path) -> str:
        """The checksum of the file on this disk; one that an interrupted call left whole is taken as it is."""
        if target.exists() and remote.sha256 and sha256_of(target) == remote.sha256:
            return remote.sha256
        progress = self.watcher(remote.path or remote.file_name) if self.watcher else None
        try:
            return fetch_file(
                remote.url,
                target,
                sha256=remote.sha256,
                size=remote.size,
                progress=progress,
                patience=self.patience,
            )
        except DialgaugeError as error:
            message = f"{error.message}; the dataset's home is {self.dataset.home}"
            raise DialgaugeError(message, file=error.file) from error

    def _place(self, remote: Remote, archive: Path, content: Path) -> None:
        if remote.unpack:
            try:
                unpack_archive(archive, content / remote.path, strip=remote.strip, only=remote.only)
            except DialgaugeError:
                archive.unlink(missing_ok=True)
                raise
        else:
            target = content / remote.path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(archive, target)

    def _compare_members(self, content: Path) -> None:
        """Where an archive's checksum is unknown, those of some of its files may be known: then they decide."""
        for path, member in self.dataset.known_members.items() if not self.dataset.checksums_known else ():
            if not (content / path).is_file():
                raise DialgaugeError(f"the download of {self.dataset.name} does not contain {path}; nothing was kept")
            if (checksum := sha256_of(content / path)) != member.sha256:
                raise DialgaugeError(
                    f"in the download of {self.dataset.name}, {path} is not the known file (its sha256 is {checksum}, "
                    f"known is {member.sha256}); nothing was kept"
                )


def unpack_archive(
    archive: Path, into: Path, *, strip: int = 0, only: tuple[str, ...] = (), limit: int = formats.DEFAULT_LIMIT
) -> list[Path]:
    """Unpack a zip or tar archive below ``into`` and give the files written, relative to it.

    ``strip`` leading folders are dropped from every member (never its own name); with ``only``, members that match none
    of the patterns after that are left out. Hidden files are, too, and links are not followed.
    """
    written: list[Path] = []
    left = limit
    for part in formats.parts_of(str(archive), limit=limit):
        member = PurePosixPath(part.name.removeprefix(f"{archive}!").replace("\\", "/"))
        if part.path is not None:
            what = "it is neither a zip nor a tar archive; the address may serve something else"
            raise DialgaugeError(what, file=str(archive))
        target = Path(*member.parts[min(strip, len(member.parts) - 1) :])
        if only and not any(fnmatch(str(target), pattern) for pattern in only):
            continue
        with part.raw() as stream:
            content = stream.read()
        left -= len(content)
        if left < 0:
            raise DialgaugeError(f"it unpacks to more than {limit:,} bytes; it is refused", file=str(archive))
        try:
            (into / target).parent.mkdir(parents=True, exist_ok=True)
            with (into / target).open("xb") as out:
                out.write(content)
        except (FileExistsError, NotADirectoryError) as error:
            raise DialgaugeError(f"the archive holds {target.name} twice; it is refused", file=str(archive)) from error
        written.append(target)
    if not written:
        raise DialgaugeError("the archive holds none of the expected files", file=str(archive))
    return sorted(written)


@contextmanager
def _staging(folder: Folder, name: str) -> Iterator[Path]:
    """An empty folder on the right disk that vanishes with what is left in it.

    Only the holder of the lock asks for it, so what lies there before was left by a process that was killed.
    """
    with writing(folder.root):
        shutil.rmtree(staging := folder.work / "staging" / name, ignore_errors=True)
        staging.mkdir(parents=True)
    try:
        yield staging
    finally:
        shutil.rmtree(staging, ignore_errors=True)


_SPLITS = ("test", "val")
#: Files of ids, one in a line, whatever their ending says.
_LISTS = ("{}ListFile.txt", "{}ListFile.json", "{}ListFile")


def arrange_multiwoz(content: Path) -> None:
    """MultiWOZ as published, brought into the layout that every command knows.

    The archives hold all dialogues in ``data.json``, lists of the ids for testing and validation, and the database
    among them. From that come ``train.json``, ``val.json`` and ``test.json``, which together are ``data.json``, and
    ``db/``. An archive that holds no such files is left as it is.
    """
    for table in sorted(content.glob("*_db.json")):
        (content / "db").mkdir(exist_ok=True)
        table.rename(content / "db" / table.name)
    everything = content / "data.json"
    lists = {split: path for split in _SPLITS if (path := _list_file(content, split))}
    if everything.is_file() and len(lists) == len(_SPLITS):
        rest = _dialogues(everything)
        for split, path in lists.items():
            named = {_key(line) for line in path.read_text("utf-8").splitlines()}
            chosen = {name: rest.pop(name) for name in list(rest) if _key(name) in named}
            (content / f"{split}.json").write_bytes(msgspec.json.encode(chosen))
        (content / "train.json").write_bytes(msgspec.json.encode(rest))
        everything.unlink()


def _list_file(content: Path, split: str) -> Path | None:
    return next((path for name in _LISTS if (path := content / name.format(split)).is_file()), None)


def _dialogues(path: Path) -> dict[str, msgspec.Raw]:
    """Each dialogue as the bytes that it is, so that nothing of it can change."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DialgaugeError(f"the downloaded dialogues are not JSON ({error})", file=path.name) from error


def _key(name: str) -> str:
    return name.strip().lower().removesuffix(".json")
