"""Options from YAML and from dotted paths."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dialgauge.dialogue import Task
from dialgauge.errors import DialgaugeError
from dialgauge.users import GcdfConfig, load_config, score_users
from support.talks import talk


def test_defaults_are_the_reference_s() -> None:
    config = load_config()
    assert config == GcdfConfig()
    assert (config.mode, config.igcd_f1.repetitions.max_repetitions) == ("reference", 6)
    assert config.rgcd_f1.repetitions.repeats_to_penalty == 3
    assert config.igcd_f1.constraints_not_in_goal.sys_checks.requests is False


def test_overrides_go_over_the_file_and_the_file_over_the_profile(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("igcd_f1:\n  repetitions: {max_repetitions: 2}\n  compensate_preemption: false\n")
    defaults = {"igcd_f1": {"repetitions_warning": 9, "compensate_preemption": True}}
    config = load_config(path, ["igcd_f1.repetitions.max_repetitions=3"], defaults=defaults)
    assert config.igcd_f1.repetitions.max_repetitions == 3
    assert config.igcd_f1.repetitions_warning == 9
    assert config.igcd_f1.compensate_preemption is False


@pytest.mark.parametrize(
    ("mapped", "switch", "score"),
    [(True, None, 1.0), (False, None, 0.0), (True, "use_canonical_map", 0.0), (True, "use_fuzzy_match", 0.0)],
)
def test_a_surface_form_counts_only_through_the_map(
    tmp_path: Path, mapped: bool, switch: str | None, score: float
) -> None:
    path = tmp_path / "map.json"
    path.write_text(json.dumps({"area": {"special_keys": {"not_in_goal": {}}, "centre": ["centre", "middle of town"]}}))
    dialogue = talk({"hotel": Task(info={"area": "centre"})}, ("hotel inform area=middle of town",), ())
    overrides = {f"igcd_f1.value_matching.{switch}": False} if switch else {}
    run = score_users([dialogue], canonical_map=path if mapped else None, overrides=overrides, resamples=0)[0]
    assert run.scores["I-GCDF1"].value == score


@pytest.mark.parametrize(
    ("override", "sentence"),
    [
        ("igcd_f1.repetition.max_repetitions=3", "Did you mean 'repetitions'"),
        ("igcd_f1.repetitions.max_repetition=3", "Did you mean 'max_repetitions'"),
        ("mode=perfect", "mode cannot be 'perfect'"),
        ("igcd_f1.repetitions.max_repetitions=-1", ">= 0"),
        ("igcd_f1.value_matching.fuzzy_match_threshold=90", "<= 1"),
        ("igcd_f1.value_matching.fuzzy_match_threshold=.nan", "fuzzy_match_threshold"),
        ("igcd_f1.repetitions=3", "Expected object, got int in 'igcd_f1.repetitions'"),
        ("igcd_f1.repetitions.max_repetitions.x=1", "max_repetitions"),
        ("igcd_f1.repetitions.count_fp", "dotted path"),
        ("use_lowercase=false", "lower case"),
        ("mode=[", "YAML"),
    ],
)
def test_a_wrong_option_is_one_sentence(override: str, sentence: str) -> None:
    with pytest.raises(DialgaugeError, match=sentence.replace("(", r"\(")):
        load_config(None, [override])


@pytest.mark.parametrize("content", ["- a\n- b\n", "a: [", "igcd: {}\n"])
def test_a_wrong_file_is_named(tmp_path: Path, content: str) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(content)
    with pytest.raises(DialgaugeError, match=r"config\.yaml"):
        load_config(path)
    with pytest.raises(DialgaugeError, match="cannot be read"):
        load_config(tmp_path / "absent.yaml")
