"""Archives that mean well, and archives that do not."""

from __future__ import annotations

import io
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from dialgauge.data import unpack_archive
from dialgauge.errors import DialgaugeError
from dialgauge.formats import read
from support.archives import tarred, zipped
from support.examples import EXAMPLES
from support.soak import examples

PACKERS = [zipped, tarred]
Packer = Callable[[Path, dict[str, bytes]], Path]


@pytest.mark.parametrize("pack", PACKERS)
def test_files_come_out_without_their_leading_folder_and_without_junk(pack: Packer, tmp_path: Path) -> None:
    members = {"top/a.json": b"1", "top/deep/b.json": b"2", "top/.DS_Store": b"", "__MACOSX/top/._a.json": b"x"}
    archive = pack(tmp_path / "x", members)
    assert unpack_archive(archive, tmp_path / "out", strip=1) == [Path("a.json"), Path("deep/b.json")]
    assert (tmp_path / "out/deep/b.json").read_bytes() == b"2"


@pytest.mark.parametrize("pack", PACKERS)
def test_only_what_is_wanted_comes_out(pack: Packer, tmp_path: Path) -> None:
    archive = pack(tmp_path / "x", {"r/dev/a": b"1", "r/code.py": b"2", "r/LICENSE.txt": b"3"})
    assert unpack_archive(archive, tmp_path / "out", strip=1, only=("dev/*", "LICENSE*")) == [
        Path("LICENSE.txt"),
        Path("dev/a"),
    ]


@pytest.mark.parametrize("pack", PACKERS)
@pytest.mark.parametrize("name", ["../escape", "/etc/escape", "a/../../escape", "..\\escape", "C:/escape"])
def test_members_that_leave_the_folder_are_refused(pack: Packer, name: str, tmp_path: Path) -> None:
    archive = pack(tmp_path / "x", {name: b"bad"})
    with pytest.raises(DialgaugeError, match="points outside the archive"):
        unpack_archive(archive, tmp_path / "deep" / "out")
    assert not list(tmp_path.rglob("*escape*"))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_links_and_devices_do_not_come_out(kind: bytes, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "x.tar", "w") as archive:
        item = tarfile.TarInfo("inside")
        item.type, item.linkname = kind, "/etc/passwd"
        archive.addfile(item)
        archive.addfile(tarfile.TarInfo("plain"))
    assert unpack_archive(tmp_path / "x.tar", tmp_path / "out") == [Path("plain")]
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as zip_archive:
        link = zipfile.ZipInfo("inside")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        zip_archive.writestr(link, "/etc/passwd")
    [written] = unpack_archive(tmp_path / "x.zip", tmp_path / "zip")
    assert not (tmp_path / "zip" / written).is_symlink()


@pytest.mark.parametrize("pack", PACKERS)
def test_a_bomb_stops_at_the_limit(pack: Packer, tmp_path: Path) -> None:
    archive = pack(tmp_path / "x", {"big": bytes(10_000_000)})
    with pytest.raises(DialgaugeError, match="more than 1,000,000 bytes"):
        unpack_archive(archive, tmp_path / "out", limit=1_000_000)


@pytest.mark.parametrize("pack", PACKERS)
def test_the_limit_holds_for_all_members_together(pack: Packer, tmp_path: Path) -> None:
    archive = pack(tmp_path / "x", {f"m{number}": bytes(400) for number in range(3)})
    with pytest.raises(DialgaugeError, match="more than 1,000 bytes"):
        unpack_archive(archive, tmp_path / "out", limit=1_000)
    assert unpack_archive(archive, tmp_path / "fits", limit=20_480)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_twice_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("a", "1")
        archive.writestr("a", "2")
    with pytest.raises(DialgaugeError, match="holds a twice"):
        unpack_archive(tmp_path / "x.zip", tmp_path / "out")


@pytest.mark.parametrize("pack", PACKERS)
def test_a_truncated_archive_is_damaged(pack: Packer, tmp_path: Path) -> None:
    archive = pack(tmp_path / "x", {"a": bytes(range(256)) * 400})
    archive.write_bytes(archive.read_bytes()[:-30])
    with pytest.raises(DialgaugeError, match=r"cannot be read|ends early|neither a zip nor a tar"):
        unpack_archive(archive, tmp_path / "out")


def test_a_page_instead_of_an_archive(tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_text("<html>Sorry</html>")
    with pytest.raises(DialgaugeError, match="neither a zip nor a tar archive"):
        unpack_archive(tmp_path / "x.zip", tmp_path / "out")


def test_an_archive_without_anything_expected(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "x", {"other": b""})
    with pytest.raises(DialgaugeError, match="none of the expected files"):
        unpack_archive(archive, tmp_path / "out", only=("dev/*",))


def with_lzma(path: Path) -> Path:
    """A zip archive whose LZMA data is damaged."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("test.json", bytes(range(256)) * 40)
    content = bytearray(path.read_bytes())
    content[50:80] = b"\xff" * 30
    path.write_bytes(content)
    return path


def without_a_name(path: Path) -> Path:
    """A zip archive with a member that has no name."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(zipfile.ZipInfo(""), "x")
    return path


def with_an_unknown_method(path: Path) -> Path:
    """A zip archive whose member is packed in a way that nobody knows."""
    content = bytearray(zipped(path, {"test.json": b"x" * 100}).read_bytes())
    for mark, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        content[content.index(mark) + offset] = 97
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("make", [with_lzma, without_a_name, with_an_unknown_method])
def test_odd_archives_are_one_sentence_to_whoever_reads_them(make: Callable[[Path], Path], tmp_path: Path) -> None:
    archive = make(tmp_path / "x.zip")
    with pytest.raises(DialgaugeError, match=r"x\.zip"):
        unpack_archive(archive, tmp_path / "out")
    with pytest.raises(DialgaugeError, match=r"x\.zip"):
        read(archive)


def test_names_in_a_tar_archive_need_not_be_utf8(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "x.tar", "w", encoding="latin-1", format=tarfile.GNU_FORMAT) as archive:
        item = tarfile.TarInfo("caf\xe9.jsonl")
        item.size = len(EXAMPLES["native"])
        archive.addfile(item, io.BytesIO(EXAMPLES["native"]))
    assert len(read(tmp_path / "x.tar")) == 1
    assert len(unpack_archive(tmp_path / "x.tar", tmp_path / "out")) == 1


NAMES = st.text(st.sampled_from("ab./\\:~\x01é"), min_size=1, max_size=12)


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=NAMES, content=st.binary(max_size=40))
def test_whatever_the_name_nothing_lands_outside(
    name: str, content: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("fuzz")
    archive = tarred(folder / "x.tgz", {name: content})
    target = folder / "deep" / "out"
    try:
        written = unpack_archive(archive, target)
    except DialgaugeError:
        written = []
    inside = {path.relative_to(target) for path in target.rglob("*") if path.is_file()} if target.exists() else set()
    everywhere = [path for path in folder.rglob("*") if path.is_file() and path != archive]
    assert len(everywhere) == len(inside) == len(written)
