"""The one YAML reader: every problem is one sentence with file and line, at once."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings, strategies as st
from msgspec import Struct

from dialgauge import yaml_file
from dialgauge.errors import DialgaugeError
from dialgauge.yaml_file import DEEPEST, MOST_BYTES, as_record, parse_yaml, read_yaml
from support.soak import examples

# Expanded, these have 9^29 nodes: a reader that built them would never end.
BOMB = "a0: &a0 {k: v}\n" + "".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 30))
LAUGHS = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30))
CHAIN = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 2000))

WRONG = {
    "a bad date": ("a: 1\nb: 2020-99-99", 2, "'2020-99-99' is not a date; put it in quotes"),
    "a bad truth value": ("a: 1\nb: !!bool x", 2, "'x' is not a truth value"),
    "an empty integer": ('a: 1\n\nb: !!int ""', 3, "'' is not an integer"),
    "a bad number": ("a: !!float x", 1, "'x' is not a number"),
    "bad bytes": ("a: !!binary x", 1, "failed to decode base64"),
    "a very long integer": ("a: 1\nb: " + "9" * 5000, 2, "is not an integer; put it in quotes"),
    "a very long hexadecimal integer": ("b: 0x" + "f" * 500_000, 1, "is not an integer"),
    "a very long integer to the base of 60": ("b: 1" + ":1" * 300_000, 1, "is not an integer"),
    "a very long number to the base of 60": ("b: 1" + ":1" * 300_000 + ".5", 1, "is not a number"),
    "an unhashable key": ("a: 1\n? [b]\n: 2", 2, "unhashable key"),
    "an unhashable key in a set": ("a: 1\nb: !!set {[c]}", 2, "unhashable key"),
    "a merge bomb": (BOMB, 7, "too much for a file of this kind once its aliases are expanded"),
    "a billion laughs": (LAUGHS, 7, "too much for a file of this kind"),
    "a long chain of aliases": (CHAIN, DEEPEST + 1, "too much for a file of this kind"),
    "a circle": ("a: &a [1, *a]", 1, "contains the alias"),
    "a circle of merges": ("a: &a {<<: *a}", 1, "contains the alias"),
    "many brackets": ("a: 1\nb: " + "[" * 500_000, 2, "nested more than 50 levels"),
    "many braces": ("{a: " * 100_000, 1, "nested more than 50 levels"),
    "many dashes": ("- " * 500_000, 1, "nested more than 50 levels"),
    "many question marks": ("? " * 500_000, 1, "nested more than 50 levels"),
    "an open bracket": ("a: 1\nb: [c]]", 2, "not valid YAML"),
    "a bad indent": ("a: 1\n  b: 2", 2, "not valid YAML"),
    "a tab": ("a:\n\t- b", 2, "not valid YAML"),
    "two documents": ("a: 1\n---\nb: 2", 2, "not valid YAML"),
    "a control character": ("a: 1\nb: \x07", 2, "the character U+0007 is not allowed"),
    "half a pair": ("a: 1\nb: \ud800", 2, "the character U+D800 is not allowed"),
    "an escape that is no character": ('a: 1\nb: "\\U00110000"', 2, "not valid YAML"),
    "an escaped half of a pair": ('a: 1\nb: "\\ud800"', 2, "not valid YAML"),
    "code": ("a: 1\nb: !!python/object/apply:os.system [ls]", 2, "not valid YAML"),
    "a tag of one's own": ("a: !mine x", 1, "not valid YAML"),
    "an unknown alias": ("a: 1\nb: *c", 2, "not valid YAML"),
    "a key twice": ("a: 1\nb: 2\na: 3", 3, "the key 'a' appears twice"),
    "a merge of a text": ("a: 1\n<<: b", 2, "not valid YAML"),
    "an equals sign": ("a: 1\nb: =", 2, "not valid YAML"),
}


@pytest.fixture(params=["libyaml", "python"])
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both loaders: libyaml's is not installed everywhere."""
    if request.param == "python":
        monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    return str(request.param)


@pytest.mark.parametrize(("text", "line", "message"), WRONG.values(), ids=WRONG)
def test_every_problem_is_a_sentence_with_file_and_line(loader: str, text: str, line: int, message: str) -> None:
    with pytest.raises(DialgaugeError) as error:
        parse_yaml(text, "mine.yaml")
    assert message in str(error.value)
    assert (error.value.file, error.value.line) == ("mine.yaml", line)
    assert len(str(error.value)) < 200


def test_plain_values_are_read_and_aliases_and_merges_work(loader: str) -> None:
    text = "base: &base {a: 1, b: [x, 'no', no]}\nmore:\n  <<: *base\n  a: 2\nsame: *base\n"
    base = {"a": 1, "b": ["x", "no", False]}
    assert parse_yaml(text).content == {"base": base, "more": {**base, "a": 2}, "same": base}
    assert parse_yaml("").content is None
    assert parse_yaml("# nothing\n").as_mapping("a list of options") == {}


class Rule(Struct, kw_only=True):
    drop: list[str] = []
    side: str = "both"


class Settings(Struct, kw_only=True):
    name: str
    version: int = 1
    rules: list[Rule] = []
    named: dict[str, Rule] = {}
    one: Rule | None = None


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("name: x\nverson: 2", 2, "it is not a profile: there is no key 'verson'. Did you mean 'version'?"),
        ("name: x\nrules:\n- drop: []\n- dorp: []", 4, "there is no key 'dorp' in 'rules[1]'. Did you mean 'drop'?"),
        ("name: x\nnamed:\n  a:\n    sid: x", 4, "there is no key 'sid' in 'named.a'. Did you mean 'side'?"),
        ("name: x\none:\n  sid: x", 3, "there is no key 'sid' in 'one'. Did you mean 'side'?"),
        ("name: x\n1: 2", 2, "there is no key '1'"),
        ("name: x\nversion: one", 2, "it is not a profile: Expected int, got str in 'version'"),
        ("name: x\nrules:\n- drop: [1]", 3, "Expected str, got int in 'rules[0].drop[0]'"),
        ("name: x\nnamed:\n  a: {drop: [1]}", 2, "Expected str, got int in 'named'"),
        ("version: 1", 1, "it is not a profile: Object missing required field name"),
        ("[]", 1, "it is not a profile: Expected object, got array"),
        ("", None, "it is not a profile: Expected object, got null"),
    ],
)
def test_records_are_checked(text: str, line: int | None, message: str) -> None:
    with pytest.raises(DialgaugeError) as error:
        parse_yaml(text, "mine.yaml").as_record(Settings, "a profile")
    assert message in str(error.value)
    assert error.value.line == line


def test_records() -> None:
    expected = Settings(name="x", rules=[Rule(drop=["y"])])
    assert parse_yaml("{name: x, rules: [{drop: [y]}]}").as_record(Settings, "a profile") == expected
    assert as_record({"name": "x", "rules": [{"drop": ["y"]}]}, Settings, "a profile") == expected
    with pytest.raises(DialgaugeError, match=r"^x: it is not a profile: there is no key 'nam'. Did you mean 'name'"):
        as_record({"nam": "x"}, Settings, "a profile", file="x")


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_bytes(b"\xef\xbb\xbfname: caf\xc3\xa9\n")
    assert read_yaml(path).content == {"name": "café"}
    path.write_bytes(b"a: 1\nb: \xff\n")
    with pytest.raises(DialgaugeError, match=r"mine\.yaml, line 2: it is not UTF-8 text"):
        read_yaml(path)
    path.write_bytes(b"#" * (MOST_BYTES + 1))
    with pytest.raises(DialgaugeError, match="larger than 1,048,576 bytes"):
        read_yaml(path)
    with pytest.raises(DialgaugeError, match="it is a folder"):
        read_yaml(tmp_path)
    with pytest.raises(DialgaugeError, match="it cannot be read"):
        read_yaml(tmp_path / "absent.yaml")
    with pytest.raises(DialgaugeError, match="it cannot be read"):
        read_yaml("a\x00b.yaml")


PIECES = st.sampled_from(
    [
        *("a", ": ", "- ", "\n", "  ", "[", "]", "{", "}", ",", "&x ", "*x", "<<", "!!int ", "!!set ", "!!omap "),
        *("!!pairs ", "!!str ", "!!null ", "!!timestamp ", "?", "|", ">", '"', "'", "\\", "#", "%YAML 1.1", "---"),
        *("...", "=", "~", "1", "0x", "1:2", "1.e", ".inf", "2020-01-01", "no", "\t", "\x85", "é", "!", "@", "`", "\r"),
    ]
)


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(PIECES, max_size=25).map("".join), st.booleans())
def test_no_text_escapes_as_another_error(text: str, fast: bool) -> None:
    with pytest.MonkeyPatch.context() as patched:
        if not fast:
            patched.setattr(yaml_file, "_base", lambda as_text=False: yaml.BaseLoader if as_text else yaml.SafeLoader)
        try:
            parse_yaml(text, "x.yaml").as_record(Settings, "a profile")
        except DialgaugeError as error:
            assert str(error).startswith("x.yaml")


def _dataset_profile(path: Path) -> object:
    from dialgauge.users import load_profile

    return load_profile(str(path))


def _profile(path: Path) -> object:
    from dialgauge.values import profile_named

    return profile_named(str(path))


PATTERNS = {
    "a large number": "a{9999999999999}",
    "many groups": "(" * 500 + ")" * 500,
    "very many groups": "(" * 50_000 + ")" * 50_000,
    "a name twice": "(?P<a>b)(?P<a>c)",
    "an open set": "[",
    "a look behind of any length": "(?<=a*)b",
    "flags many deep": "(?i:" * 3000 + ")" * 3000,
}


@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS)
def test_a_pattern_that_cannot_be_used_is_one_sentence(pattern: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(f"name: mine\nrules:\n  - regex: [['{pattern}', 'x']]\n")
    with pytest.raises(DialgaugeError, match=r"mine\.yaml: rule 1: '.*' is not a valid regular expression") as error:
        _profile(path)
    assert len(str(error.value)) < 400
    path.write_text(f"name: mine\nacts: {{inform: ['{pattern}']}}\ndomains: {{}}\n")
    with pytest.raises(
        DialgaugeError, match=r"mine\.yaml, line 2: the act family 'inform': '.*' is not a valid regular expr"
    ):
        _dataset_profile(path)


@pytest.mark.parametrize("replacement", [r"\2", r"\g<name>", r"\g<1", r"\99999999999999999999"])
def test_a_replacement_that_cannot_be_made_is_one_sentence(replacement: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(f"name: mine\nrules:\n  - regex: [['(a)', '{replacement}']]\n")
    with pytest.raises(DialgaugeError, match=r"mine\.yaml: rule 1: '.*' cannot replace '\(a\)'"):
        _profile(path)
