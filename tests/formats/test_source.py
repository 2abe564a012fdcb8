from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dialgauge.errors import DialgaugeError
from dialgauge.formats import DEFAULT_LIMIT, read, resolve, system_names
from support.archives import tarred, zipped
from support.examples import EXAMPLES

LINE = EXAMPLES["native"]
OTHER = LINE.replace(b'"d1"', b'"d2"')


def contents(source: object, **options: int) -> dict[str, bytes]:
    return {part.stem: part.read() for part in resolve(str(source), **options)}


def test_plain_and_gzipped_files_give_the_same_bytes_whatever_their_name(tmp_path: Path) -> None:
    (tmp_path / "plain.gz").write_bytes(LINE)
    (tmp_path / "packed.json").write_bytes(gzip.compress(LINE))
    assert contents(tmp_path / "plain.gz") == {"plain": LINE}
    assert contents(tmp_path / "packed.json") == {"packed.json": LINE}


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_a_tar_archive_is_its_files_in_name_order(tmp_path: Path, mode: str) -> None:
    path = tarred(tmp_path / "a.tar", {"b.jsonl": OTHER, "a/x.jsonl": LINE, "a/.hidden": b"?"}, mode)
    assert list(contents(path).items()) == [("x.jsonl", LINE), ("b.jsonl", OTHER)]


def test_a_zip_archive_is_its_files_and_gzip_inside_is_unpacked(tmp_path: Path) -> None:
    members = {"b.jsonl.gz": gzip.compress(OTHER), "a.jsonl": LINE, "__MACOSX/._a.jsonl": b"?", "folder/": b""}
    path = zipped(tmp_path / "a.zip", members)
    assert list(contents(path).items()) == [("a.jsonl", LINE), ("b.jsonl", OTHER)]
    assert [dialogue.id for dialogue in read(path).dialogues] == ["d1", "d2"]


def test_folders_are_read_in_name_order_without_hidden_files(tmp_path: Path) -> None:
    for name, content in {"b.jsonl": OTHER, "in/a.jsonl": LINE, ".git/x": b"?", ".x": b"?"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    assert list(contents(tmp_path)) == ["b.jsonl", "a.jsonl"]


def test_a_pattern_matches_files_and_folders(tmp_path: Path) -> None:
    (tmp_path / "in_1").mkdir()
    (tmp_path / "in_1" / "a.jsonl").write_bytes(LINE)
    (tmp_path / "in_2.jsonl").write_bytes(OTHER)
    assert list(contents(tmp_path / "in_*")) == ["a.jsonl", "in_2.jsonl"]
    assert list(contents(tmp_path / "**" / "*.jsonl")) == ["a.jsonl", "in_2.jsonl"]


def test_standard_input_is_looked_at_and_then_read(monkeypatch: pytest.MonkeyPatch) -> None:
    for content in (LINE, gzip.compress(LINE)):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
        assert [dialogue.id for dialogue in read("-").dialogues] == ["d1"]


def test_a_pipe_is_read_once_and_kept(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = subprocess.Popen([sys.executable, "-c", f"open({str(pipe)!r}, 'wb').write({LINE!r})"])
    try:
        assert [dialogue.id for dialogue in read(pipe).dialogues] == ["d1"]
    finally:
        writer.wait(timeout=300)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "not the name of a file"),
        ("a\0b", "not the name of a file"),
        ("missing.json", "no such file or folder"),
        ("missing*.json", "no file matches this pattern"),
        ("x" * 5000, "cannot be read"),
    ],
)
def test_sources_that_are_not_there(tmp_path: Path, source: str, message: str) -> None:
    place = str(tmp_path / source) if source else source
    with pytest.raises(DialgaugeError, match=message):
        resolve(place)


def test_an_empty_folder_and_empty_archives_are_errors(tmp_path: Path) -> None:
    with pytest.raises(DialgaugeError, match="holds no files"):
        resolve(tmp_path)
    with pytest.raises(DialgaugeError, match="archive holds no files"):
        resolve(zipped(tmp_path / "a.zip", {}))
    with pytest.raises(DialgaugeError, match="archive holds no files"):
        resolve(tarred(tmp_path / "a.tar", {".hidden": b"?"}, "w"))


def lying_tar(
    member: str, *, stored: int = 10_000, claimed: int = 99_999_999_999, kind: bytes = tarfile.REGTYPE
) -> bytes:
    """A tar archive whose second member is said to be larger than it is, by a pax header."""
    lie = tarfile.TarInfo(member)
    lie.size, lie.type, lie.pax_headers = stored, kind, {"size": str(claimed)}
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w", format=tarfile.PAX_FORMAT) as archive:
        info = tarfile.TarInfo("a.jsonl")
        info.size = len(LINE)
        archive.addfile(info, io.BytesIO(LINE))
        held.write(lie.tobuf(tarfile.PAX_FORMAT) + bytes(stored + -stored % tarfile.BLOCKSIZE))
    return held.getvalue() + bytes(2 * tarfile.BLOCKSIZE)


@pytest.mark.parametrize(
    ("member", "kind"), [("b.jsonl", tarfile.REGTYPE), (".hidden", tarfile.REGTYPE), ("b.jsonl", b"Z")]
)
def test_a_tar_member_is_refused_by_the_size_it_claims(tmp_path: Path, member: str, kind: bytes) -> None:
    """Also one that is passed over: walking to its supposed end took half a minute."""
    (tmp_path / "a.tar").write_bytes(lying_tar(member, kind=kind))
    (tmp_path / "a.tar.gz").write_bytes(gzip.compress(lying_tar(member, kind=kind)))
    start = time.process_time()
    for name, limit in (("a.tar", DEFAULT_LIMIT), ("a.tar", 10**12), ("a.tar.gz", DEFAULT_LIMIT)):
        with pytest.raises(DialgaugeError, match=r"it cannot be read \(unexpected end of data\)"):
            resolve(tmp_path / name, limit=limit)
    assert time.process_time() - start < 5


@pytest.mark.parametrize("pieces", [[LINE, OTHER], [LINE * 3, OTHER], [LINE, OTHER * 3], [LINE, b""], [b"", LINE]])
def test_a_gzip_of_several_members_is_read_whole(tmp_path: Path, pieces: list[bytes]) -> None:
    (tmp_path / "a.jsonl.gz").write_bytes(b"".join(map(gzip.compress, pieces)))
    assert contents(tmp_path / "a.jsonl.gz") == {"a.jsonl": b"".join(pieces)}


@pytest.mark.parametrize(
    ("sources", "names"),
    [
        (["runs/mintl.json", "augpt.json.gz"], ["mintl", "augpt"]),
        (["a/mintl.json", "b/mintl.json"], ["a/mintl", "b/mintl"]),
        (["y/a/mintl.json", "x/a/mintl.json", "a/other.json"], ["y/a/mintl", "x/a/mintl", "other"]),
        (["a/mintl.json", "a/mintl.jsonl"], ["mintl.json", "mintl.jsonl"]),
        (["a/c.json", "a/c.jsonl", "b/c.json", "b/c.jsonl"], ["a/c.json", "a/c.jsonl", "b/c.json", "b/c.jsonl"]),
        (["https://one/c.json", "https://two/c.json"], ["one/c", "two/c"]),
    ],
)
def test_sources_that_are_called_alike_are_told_apart(sources: list[str], names: list[str]) -> None:
    assert system_names(sources) == names


@pytest.mark.parametrize("again", ["a/mintl.json", "./a/mintl.json", "b/../a/mintl.json"])
def test_one_source_twice_is_an_error(again: str) -> None:
    with pytest.raises(DialgaugeError, match=r"mintl\.json: it is given twice; give each file once"):
        system_names(["a/mintl.json", "b/mintl.json", again])


def test_a_zip_archive_of_many_files_lists_its_members_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list of 4,000 members that is read for each of them takes minutes."""
    path = zipped(tmp_path / "a.zip", {f"{number}.jsonl": LINE for number in range(50)})
    opened = []
    real = zipfile.ZipFile

    def counted(*given: Any, **more: Any) -> zipfile.ZipFile:
        opened.append(given)
        return real(*given, **more)

    monkeypatch.setattr(zipfile, "ZipFile", counted)
    assert [part.read() for part in resolve(path)] == [LINE] * 50
    assert len(opened) <= 2
