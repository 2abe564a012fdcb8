"""What a check says of canonical maps."""

from __future__ import annotations

import json
from pathlib import Path

from dialgauge.data import check


def test_a_check_names_what_matches_by_chance(tmp_path: Path) -> None:
    table = {"north": ["up", "north"], "south": ["Up!", "down"], "east": [], "special_keys": {"not_in_goal": {}}}
    (tmp_path / "map.json").write_text(json.dumps({"area": table}))
    [resource] = check([tmp_path / "map.json"]).resources
    assert resource.holds == "1 slot, 3 values, 4 ways of writing them"
    assert {finding.kind: [place.detail for place in finding.places] for finding in resource.findings} == {
        "unwritten": ["area: 'south'"],
        "empty": ["area: 'east'"],
        "shared": ["area: 'up' under north, south"],
    }


def test_the_released_map(shared_data: Path) -> None:
    """Sorted tokens do not tell 3:15 in the morning from the afternoon."""
    [resource] = check([shared_data / "gcdf1/multiwoz21_canonical_map.json.gz"]).resources
    assert resource.holds.startswith("17 slots, ")
    assert {finding.kind: finding.count for finding in resource.findings} == {"shared": 36}
