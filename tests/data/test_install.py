"""Datasets from a real web server into a folder: whole or not at all, trusted once, compared ever after."""

from __future__ import annotations

import errno
import gzip
import hashlib
import io
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from dialgauge.data import (
    Dataset,
    Folder,
    InstalledDataset,
    Member,
    Patience,
    Remote,
    clear_leftovers,
    get,
)
from dialgauge.errors import DialgaugeError
from support.web import Answer, Site, serving

IMPATIENT = Patience(tries=2, sleep=lambda _: None)


def archive(**members: bytes) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as packed:
        for name, content in members.items():
            packed.writestr(f"release/{name}.json", content)
    return held.getvalue()


BODY = archive(train=b"[1]", test=b"[2]")


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving(Site(BODY)) as started:
        yield started


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "data")


def dataset(site: Site, *, sha256: str | None = None, members: tuple[Member, ...] = ()) -> Dataset:
    remote = Remote(url=site.url, unpack=True, strip=1, sha256=sha256)
    return Dataset(
        name="toy",
        title="Toy",
        home="https://example.org",
        licence="MIT",
        citation="-",
        files=(remote,),
        members=members,
    )


def visible(folder: Folder) -> list[str]:
    return sorted(path.name for path in folder.root.iterdir() if not path.name.startswith("."))


def no_work_left(folder: Folder) -> bool:
    return not [path for path in folder.work.rglob("*") if path.is_file() and path.suffix not in (".lock", ".json")]


def test_a_dataset_is_fetched_unpacked_and_verified(site: Site, folder: Folder) -> None:
    toy = dataset(site, sha256=sha(BODY))
    done = get(toy, folder)
    assert done == InstalledDataset(folder.path("toy"), fetched=True)
    assert (done.path / "train.json").read_bytes() == b"[1]"
    assert (done.path / "test.json").read_bytes() == b"[2]"
    assert no_work_left(folder)


def test_a_wrong_published_checksum_installs_nothing(site: Site, folder: Folder) -> None:
    with pytest.raises(DialgaugeError, match=r"was expected; nothing was kept; the dataset's home is https://example"):
        get(dataset(site, sha256="0" * 64), folder)
    assert visible(folder) == []
    assert no_work_left(folder)


def test_known_members_decide_where_the_archive_is_unknown(site: Site, folder: Folder) -> None:
    with pytest.raises(DialgaugeError, match=r"train.json is not the known file"):
        get(dataset(site, members=(Member("train.json", sha(b"[7]")),)), folder)
    with pytest.raises(DialgaugeError, match=r"does not contain dev.json"):
        get(dataset(site, members=(Member("dev.json", sha(b"[7]")),)), folder)
    assert visible(folder) == []
    assert get(dataset(site, members=(Member("train.json", sha(b"[1]")),)), folder).fetched


def test_several_files_and_one_of_them_missing(site: Site, folder: Folder) -> None:
    files = (Remote(path="a.bin", sha256=sha(BODY)), Remote(path="deep/b.bin"))
    several = Dataset("toy", "Toy", "-", "-", "-", files, base=site.url + "?")
    site.answers = [Answer(), Answer(status=404)]
    with pytest.raises(DialgaugeError, match="no such file"):
        get(several, folder)
    assert visible(folder) == []
    asked = len(site.ranges)
    assert get(several, folder).fetched
    assert len(site.ranges) == asked + 1, "the file that had come whole and right is not fetched again"
    assert (folder.path("toy") / "deep/b.bin").read_bytes() == BODY


def test_a_folder_that_is_in_the_way_is_left_alone(site: Site, folder: Folder) -> None:
    (folder.path("toy")).mkdir(parents=True)
    (folder.path("toy") / "mine.txt").write_text("precious")
    with pytest.raises(DialgaugeError, match="in the way"):
        get(dataset(site), folder)
    assert (folder.path("toy") / "mine.txt").read_text() == "precious"


def test_a_copy_put_there_by_hand_counts_if_it_is_the_known_one(site: Site, folder: Folder) -> None:
    members = (Member("train.json", sha(b"[1]")),)
    toy = dataset(site, sha256=sha(BODY), members=members)
    folder.path("toy").mkdir(parents=True)
    (folder.path("toy") / "train.json").write_bytes(b"[1]")
    assert get(toy, folder) == InstalledDataset(folder.path("toy"), fetched=False)
    with pytest.raises(DialgaugeError, match="in the way"):
        get(dataset(site, members=members), folder)
    (folder.path("toy") / "train.json").rename(folder.path("toy") / "train.json.gz")
    with pytest.raises(DialgaugeError, match="in the way"):
        get(toy, folder)
    (folder.path("toy") / "train.json.gz").write_bytes(gzip.compress(b"[1]"))
    assert not get(toy, folder).fetched
    (folder.path("toy") / "train.json").write_bytes(b"[2]")
    with pytest.raises(DialgaugeError, match="in the way"):
        get(toy, folder)
    assert site.ranges == []


def test_a_killed_download_leaves_no_dataset_and_is_resumed(site: Site, folder: Folder) -> None:
    site.body = archive(train=bytes(range(256)) * 4000)
    site.answers = [Answer(cut=500_000, stall=1.0)]
    script = (
        "import sys; from pathlib import Path; from dialgauge.data import Dataset, Folder, Remote, get;"
        "get(Dataset('toy', 'Toy', '-', '-', '-', (Remote(url=sys.argv[1], sha256=sys.argv[3],"
        " unpack=True, strip=1),)), Folder(Path(sys.argv[2])))"
    )
    process = subprocess.Popen([sys.executable, "-c", script, site.url, str(folder.root), sha(site.body)])
    part = folder.work / "downloads" / "toy" / "000-file.bin.part"
    deadline = time.monotonic() + 300
    while not (part.exists() and part.stat().st_size >= 400_000) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert visible(folder) == []
    done = get(dataset(site, sha256=sha(site.body)), folder)
    assert site.ranges[-1] is not None, "the second process goes on where the killed one stopped"
    assert (done.path / "train.json").read_bytes() == bytes(range(256)) * 4000


def test_two_at_once_fetch_once(site: Site, folder: Folder) -> None:
    outcomes: list[InstalledDataset] = []
    threads = [threading.Thread(target=lambda: outcomes.append(get(dataset(site), folder))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcome.fetched for outcome in outcomes) == [False, False, False, True]
    assert len(site.ranges) == 1


def test_a_full_disk_while_unpacking_leaves_nothing(
    site: Site, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy, real = dataset(site, sha256=sha(BODY)), Path.open

    def full(self: Path, mode: str = "r", *rest: Any, **more: Any) -> Any:
        if mode == "xb":
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(self, mode, *rest, **more)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", full)
        with pytest.raises(DialgaugeError, match=r"it cannot be written \(the disk is full\)"):
            get(toy, folder)
    assert visible(folder) == []
    downloads = len(site.ranges)
    assert get(toy, folder).fetched
    assert len(site.ranges) == downloads  # what was fetched is still there


@pytest.mark.parametrize("content", [b"\xff", b'{"dataset": "\xff"}', b"[" * 100_000])
def test_a_receipt_or_list_that_is_no_text_is_a_sentence(site: Site, folder: Folder, content: bytes) -> None:
    place = get(dataset(site), folder).path
    (place / ".dialgauge").write_bytes(content)
    with pytest.raises(DialgaugeError, match="receipt is damaged"):
        folder.receipt(place.name)


def leftovers(folder: Folder, name: str) -> list[Path]:
    """What a process leaves that is killed after the dataset is in place, and before it has tidied up."""
    places = [folder.work / kind / name for kind in ("downloads", "staging")]
    for place in places:
        place.mkdir(parents=True)
        (place / "000-toy.zip").write_bytes(b"x" * 1000)
    return places


def test_half_a_download_stays_and_so_does_what_another_process_works_on(site: Site, folder: Folder) -> None:
    get(dataset(site), folder)
    downloads, staging = leftovers(folder, "other")
    clear_leftovers(folder)
    assert downloads.exists()
    assert not staging.exists()
    places = leftovers(folder, "toy")
    with FileLock(folder.work / "toy.lock"):
        clear_leftovers(folder)
    assert all(place.exists() for place in places)
