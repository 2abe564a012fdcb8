"""Runs that lie: a manifest whose checksums fit bytes that dialgauge never wrote."""

from __future__ import annotations

import hashlib
import json

from dialgauge.runs import Run


def forge(run: Run, table: str, content: bytes) -> None:
    """Write a table's bytes and make the manifest vouch for them."""
    (run.path / f"{table}.parquet").write_bytes(content)
    path = run.path / "run.json"
    manifest = json.loads(path.read_text())
    manifest["tables"][table] |= {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    path.write_text(json.dumps(manifest))
