"""A lock file has one holder."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialgauge.errors import DialgaugeError
from dialgauge.locks import locked, try_lock


def test_a_lock_has_one_holder(tmp_path: Path) -> None:
    path = tmp_path / "new" / "x.lock"
    with locked(path):
        assert try_lock(path) is None
    lock = try_lock(path)
    assert lock is not None
    lock.release()
    (tmp_path / "file").touch()
    with pytest.raises(DialgaugeError, match="cannot be written"), locked(tmp_path / "file" / "x.lock"):
        pass
