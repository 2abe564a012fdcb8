"""``annotations.json`` beside ``run.json``: what people write down while they look at a run and its dialogues.

Invariants
- The file is no part of what was measured: no checksum covers it, and a run without it is whole.
- It changes by one rename, after its bytes are on the disk, so that readers need no lock.
- Whoever changes it holds the run's lock from reading to renaming, so that two writers lose nothing.
- It disappears with its run: writing never makes the folder of a run that was removed meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from dialgauge.errors import DialgaugeError
from dialgauge.runs.workspace import sync_folder, write_durably, writing
from dialgauge.text import encodable

ANNOTATIONS_FILE = "annotations.json"
#: Letters of a label or tag.
LONGEST_LABEL = 60
#: In place of an id: the newest run, of a kind where that is named after a colon.
LATEST = "latest"

_SCRATCH = f"{ANNOTATIONS_FILE}.new"


class DialogueNote(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What people wrote about one dialogue."""

    labels: tuple[str, ...] = ()
    note: str = ""


class Annotations(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What people wrote about one run and its dialogues. It is never changed in place: the store gives new ones."""

    tags: tuple[str, ...] = ()
    note: str = ""
    dialogues: dict[str, DialogueNote] = {}

    def rows(self) -> Iterator[tuple[str | None, str, str]]:
        """Dialogue (None for the run itself), kind and text of each annotation."""
        yield from ((None, "tag", tag) for tag in self.tags)
        if self.note:
            yield None, "note", self.note
        for dialogue, written in self.dialogues.items():
            yield from ((dialogue, "label", label) for label in written.labels)
            if written.note:
                yield dialogue, "note", written.note


def read_annotations(run: Path) -> Annotations:
    """The annotations in a run's folder, none where nobody wrote any; a damaged file is an error."""
    path = run / ANNOTATIONS_FILE
    if path.exists() and not path.is_file():  # a pipe would be waited for
        raise DialgaugeError("this is not a file of annotations; delete it", file=str(path))
    try:
        return msgspec.json.decode(path.read_bytes(), type=Annotations)
    except FileNotFoundError:
        return Annotations()
    except OSError as error:
        raise DialgaugeError(f"the annotations cannot be read ({error.strerror})", file=str(path)) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DialgaugeError(
            f"the annotations are damaged ({error}); fix the file, or delete it to do without them", file=str(path)
        ) from error


def write_annotations(run: Path, content: Annotations) -> None:
    """Replace the annotations in a run's folder; an error where the run is gone."""
    data = msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n"
    with writing(run):
        try:
            write_durably(run / _SCRATCH, data)
            (run / _SCRATCH).replace(run / ANNOTATIONS_FILE)
            sync_folder(run)
        except FileNotFoundError as error:
            raise DialgaugeError("the run was removed meanwhile, and its annotations with it", file=str(run)) from error
        finally:
            (run / _SCRATCH).unlink(missing_ok=True)


def checked_labels(texts: Iterable[str], what: str) -> tuple[str, ...]:
    """Each label or tag once, in its order, without the space around it."""
    labels = tuple(dict.fromkeys(" ".join(encodable(text).split()) for text in texts))
    for label in labels:
        if not 0 < len(label) <= LONGEST_LABEL:
            raise DialgaugeError(f"a {what} has 1 to {LONGEST_LABEL} characters; write a note")
        if what == "tag" and label.partition(":")[0] == LATEST:
            raise DialgaugeError(f"'{LATEST}' means the newest run and cannot be a tag; choose another word")
    return labels
