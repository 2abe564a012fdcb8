"""Files of one format in one source: from the counts to the report on them."""

from __future__ import annotations

from dialgauge.data.check.coverage import Coverage, Gold
from dialgauge.data.check.findings import Finding, Findings, Place
from dialgauge.data.check.report import FileReport, GroupReport, SlotReport
from dialgauge.data.check.tally import FileTally, GroupTally
from dialgauge.data.check.values import NamedOntology, SlotInventory, best_ontology, compare
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import DialogueFormat, Notes


class Tolerant(Notes):
    """Notes of a reading that goes on after a dialogue that cannot be read, and keeps only the first few reasons."""

    def __init__(self, file: str, kept: int) -> None:
        super().__init__(tolerant=True)
        words = "dialogues that cannot be read"
        self.lost = Finding(kind="unreadable dialogue", severity="problem", message=words, places=[])
        self._file, self._kept = file, kept
        self._first: DialgaugeError | None = None

    def refuse(self, error: DialgaugeError) -> None:
        self.lost.count += 1
        if self._first is None:
            self._first = error
        if len(self.lost.places) < self._kept:
            detail = error.message if error.line is None else f"line {error.line}: {error.message}"
            place = Place(file=self._file, dialogue=error.dialogue or "", turn=error.turn, detail=detail)
            self.lost.places.append(place)

    def reason(self) -> DialgaugeError:
        """Why the file gave nothing."""
        return self._first or DialgaugeError("it holds no dialogues", file=self._file)


class Group:
    """Files of one format in one source."""

    def __init__(self, source: str, chosen: DialogueFormat, tally: GroupTally, named: bool) -> None:
        self.source, self.chosen, self.tally, self.named = source, chosen, tally, named
        self.notes: dict[str, int] = {}

    def end(self, notes: Tolerant) -> bool:
        """The current file is through: take the reader's notes, or forget a file that gave no dialogue at all."""
        if not self.tally.files[-1].dialogues:
            self.tally.files.pop()
            return False
        for what, count in notes.counts.items():
            self.notes[what] = self.notes.get(what, 0) + count
        if notes.lost.count:
            self.tally.findings.merge(notes.lost)
        return True

    def report(self, offered: list[NamedOntology], gold: Gold | None, kept: int) -> GroupReport:
        tally = self.tally
        files = tally.files
        coverage = self._coverage(gold, kept)
        outside, ontology = self._against(offered)
        return GroupReport(
            source=self.source,
            format=self.chosen.name,
            kind=self.chosen.kind,
            summary=self.chosen.summary,
            recognised="named" if self.named else "by its content",
            files=[_file_report(file) for file in files],
            dialogues=sum(file.dialogues for file in files),
            turns=sum(file.turns for file in files),
            user_turns=sum(file.user_turns for file in files),
            states=sum(file.with_state["state"] for file in files),
            predicted=sum(file.with_state["predicted"] for file in files),
            domains=dict(sorted(tally.domains.items())),
            slots=_slot_reports(tally.inventories["state"], tally.inventories["predicted"], outside),
            ontology=ontology,
            fields={name: count for name, count in sorted(tally.fields.items()) if count},
            notes=dict(sorted(self.notes.items())),
            findings=self._findings(),
            coverage=coverage,
        )

    def _against(self, offered: list[NamedOntology]) -> tuple[dict[tuple[str, str], int], str | None]:
        """Values outside the best fitting ontology, of the annotated states or, where there are none, the predicted."""
        inventories = self.tally.inventories
        inventory = inventories["state"] if inventories["state"].slots else inventories["predicted"]
        chosen = best_ontology(inventory, offered)
        if chosen is None:
            return {}, None
        return compare(inventory, chosen, self.tally.findings), chosen.file

    def _findings(self) -> list[Finding]:
        findings = self.tally.findings
        for file in self.tally.files:
            for state, lacking in file.lacking.items():
                if file.with_state[state] and lacking.count:
                    findings.merge(lacking)
            if (
                self.chosen.kind == "predictions"
                and "predicted" in self.chosen.fields
                and not file.with_state["predicted"]
            ):
                words = "files of predictions without any predicted state"
                findings.add("no predicted states", "remark", words, Place(file=file.name))
        self._note_overlap(findings)
        if any(inventory.overflow for inventory in self.tally.inventories.values()):
            findings.add("too many slots", "problem", "states use more slot names than can be counted", None)
        return findings.all()

    def _shared_ids(self) -> int:
        """Ids that occur in more than one file."""
        seen: set[int] = set()
        shared: set[int] = set()
        for file in self.tally.files if len(self.tally.files) > 1 else ():
            shared.update(key for key in file.ids if key in seen)
            seen.update(file.ids)
        return len(shared)

    def _note_overlap(self, findings: Findings) -> None:
        shared = self._shared_ids()
        if shared:
            words = "ids that occur in more than one file: these are separate sets, name one at a time"
            findings.add("id in several files", "remark", words, count=shared)

    def _coverage(self, gold: Gold | None, kept: int) -> list[Coverage]:
        """Against the gold file: all files together, or one by one when their ids overlap (several systems)."""
        files = self.tally.files
        if gold is None:
            return []
        sets = [[file] for file in files] if self._shared_ids() else [files]
        return [_cover(gold, together, kept) for together in sets]


def _cover(gold: Gold, files: list[FileTally], kept: int) -> Coverage:
    read: dict[int, int] = {}
    for file in files:
        read.update(file.ids)
    strangers = [name for file in files for name in file.strangers]
    return gold.coverage([file.name for file in files], read, strangers, kept)


def _file_report(file: FileTally) -> FileReport:
    return FileReport(
        file=file.name,
        dialogues=file.dialogues,
        turns=file.turns,
        user_turns=file.user_turns,
        states=file.with_state["state"],
        predicted=file.with_state["predicted"],
    )


def _slot_reports(
    gold: SlotInventory, predicted: SlotInventory, outside: dict[tuple[str, str], int]
) -> list[SlotReport]:
    reports = []
    for key in sorted({*gold.slots, *predicted.slots}):
        ours, theirs = gold.slots.get(key), predicted.slots.get(key)
        reports.append(
            SlotReport(
                domain=key[0],
                slot=key[1],
                filled=ours.filled if ours else 0,
                values=len(ours.values) if ours else 0,
                predicted=theirs.filled if theirs else 0,
                predicted_values=len(theirs.values) if theirs else 0,
                outside=outside.get(key),
                more_values=bool((ours and ours.unkept) or (theirs and theirs.unkept)),
            )
        )
    return reports
