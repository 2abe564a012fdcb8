from __future__ import annotations

import hashlib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from dialgauge.errors import DialgaugeError
from dialgauge.plugins import installed_versions
from dialgauge.runs import KEY_PACKAGES, draft, fingerprint, this_command, versions, with_origin


def test_a_file_has_the_checksum_that_sha256sum_prints(tmp_path: Path) -> None:
    path = tmp_path / "gold.json"
    path.write_bytes(b"abc")
    made = fingerprint(path)
    # FIPS 180-2, appendix B.1: the digest of the three bytes "abc".
    assert made.sha256 == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert (made.path, made.files, made.size) == (str(path), 1, 3)


def test_an_input_that_changes_has_another_checksum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that stays as it is, as the gold of many systems does, is read once."""
    file = tmp_path / "gold.json"
    file.write_bytes(b"one")
    before = fingerprint(file)
    with monkeypatch.context() as unread:
        unread.delattr(hashlib, "file_digest")
        assert fingerprint(file) == before
    file.write_bytes(b"other")
    assert fingerprint(file).sha256 == hashlib.sha256(b"other").hexdigest()


def test_a_folder_counts_its_files_and_not_the_hidden_ones(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "two.json").write_text("2")
    (tmp_path / "one.json").write_text("1")
    before = fingerprint(tmp_path)
    (tmp_path / ".cache").mkdir()
    (tmp_path / ".cache" / "x").write_text("x")
    assert fingerprint(tmp_path) == before
    digests = [hashlib.sha256(text).hexdigest() for text in (b"2", b"1")]
    lines = f"{digests[0]}  b/two.json\n{digests[1]}  one.json\n"
    assert before.sha256 == hashlib.sha256(lines.encode()).hexdigest()
    assert (before.files, before.size) == (2, 2)
    (tmp_path / "one.json").write_text("3")
    assert fingerprint(tmp_path).sha256 != before.sha256


def test_a_pattern_is_told_apart_by_content_and_names_but_not_by_place(tmp_path: Path) -> None:
    for folder in ("first", "second"):
        (tmp_path / folder).mkdir()
        for name in ("a.json", "b.json"):
            (tmp_path / folder / name).write_text(name)
    one, two = (fingerprint(tmp_path / folder / "*.json") for folder in ("first", "second"))
    assert one.sha256 == two.sha256
    assert one.files == 2


def test_standard_input_has_no_checksum() -> None:
    assert fingerprint("-").sha256 == ""


def test_a_missing_input_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(DialgaugeError, match="there is no such file or folder") as error:
        fingerprint(tmp_path / "nowhere.json")
    assert error.value.file == str(tmp_path / "nowhere.json")


def test_an_input_says_what_it_was_read_as(tmp_path: Path) -> None:
    path = tmp_path / "gold.json"
    path.write_bytes(b"abc")
    facts = with_origin(draft(kind="k", name="n", seeds=[1, 2]), [("gold", path), path, ("predictions", "-")])
    assert [one.role for one in facts.inputs] == ["gold", "", "predictions"]
    assert facts.seeds == [1, 2]
    assert facts.versions["dialgauge"]


def test_a_command_is_recorded_without_what_is_secret_in_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    words = [
        "lab",
        "run",
        "--system-set",
        "url=http://me:pw@host:80/bot?key=secret",
        "https://host/a.json?sig=1#x",
        "a?b",
    ]
    monkeypatch.setattr("sys.argv", ["/bin/dialgauge", *words])
    assert this_command() == [
        "dialgauge", "lab", "run", "--system-set", "url=http://host:80/bot", "https://host/a.json", "a?b",
    ]  # fmt: skip


@pytest.mark.parametrize("package", KEY_PACKAGES)
def test_versions_are_those_that_the_packages_describe(package: str) -> None:
    try:
        described: str | None = version(package)
    except PackageNotFoundError:
        described = None
    assert versions().get(package) == described


def test_the_first_of_two_copies_of_a_package_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place, folder in (
        ("a", "torch-9.1.dist-info"),
        ("b", "torch-8.0.dist-info"),
        ("b", "scipy-7.5-py3.11.egg-info"),
    ):
        (tmp_path / place / folder).mkdir(parents=True)
    monkeypatch.setattr("sys.path", [str(tmp_path / "nowhere"), str(tmp_path / "a"), str(tmp_path / "b")])
    found = installed_versions()
    assert (found["torch"], found["scipy"]) == ("9.1", "7.5")
    assert "numpy" not in found
