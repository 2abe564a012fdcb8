"""JSON that a command wrote, held against the schema that it names."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dialgauge.schemas import schema_id, schema_text


def assert_published(text: str, name: str | None = None) -> dict[str, Any]:
    """The document, once it is known to follow its published schema (the one named, if one is)."""
    jsonschema = pytest.importorskip("jsonschema")
    document: dict[str, Any] = json.loads(text)
    kind = document["schema"].split("/")[1]
    assert document["schema"] == schema_id(kind)
    assert name in (None, kind)
    schema = json.loads(schema_text(kind))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(document)
    return document
