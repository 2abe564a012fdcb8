"""The run store: a folder of runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.files import probe
from dialgauge.runs.annotations import (
    LATEST,
    Annotations,
    DialogueNote,
    checked_labels,
    read_annotations,
    write_annotations,
)
from dialgauge.runs.corpora import CORPORA, Corpora
from dialgauge.runs.manifest import MANIFEST, Manifest, content_digest, is_run_id, load, new_id, slug, write_manifest
from dialgauge.runs.run import Run
from dialgauge.runs.tables import RESERVED, check_table_name, write_table
from dialgauge.runs.workspace import (
    WORK,
    Parts,
    Workspace,
    delete_tree,
    resumable_name,
    writing,
)
from dialgauge.source import own_source
from dialgauge.text import encodable, some_of

if TYPE_CHECKING:
    import polars


ENVIRONMENT = "DIALGAUGE_RUNS"
#: Where the dialogues of a run in the making lie, in its folder.
_CORPUS = "corpus-new"


class Survey(NamedTuple):
    """All runs of a store, oldest first, and an error for each folder that should be one and is damaged."""

    runs: list[Run]
    problems: list[DialgaugeError]


class Store:
    """A folder of runs: ``Store()`` is ``$DIALGAUGE_RUNS`` or ``./runs``. It is made when the first run is stored.

    >>> import dialgauge
    >>> gold = {"d1": [{"hotel-area": "north"}]}
    >>> store = dialgauge.Store("kept")
    >>> stored = dialgauge.score(gold, {"mine": gold}, measures="JGA").save(store)
    >>> store.open("mine")["JGA"], [run.name for run in store.list()]
    (<Score 1, n=1>, ['mine'])
    """

    def __init__(self, folder: str | PathLike[str] | None = None) -> None:
        self.folder = Path(folder if folder is not None else os.environ.get(ENVIRONMENT) or "runs")
        self._corpora = Corpora(self.folder)
        self._workspace = Workspace(self.folder)

    def add(self, run: Run) -> Run:
        """Store a run that is in memory, or in another store.

        A run equal to a stored one is found, not stored again: one with the same content, configuration, inputs by
        checksum and versions. It then counts as made now, by the present command.
        """
        facts = run.manifest  # reads the inputs
        if self._workspace.sweep():
            with self._locked():
                self._collect()
        claim = self._workspace.reserve()
        try:
            corpus, scratch = run.encoded_corpus(), claim.folder / _CORPUS
            if corpus is not None and not corpus.ids:
                corpus = None
            if corpus is not None:
                self._corpora.prepare(corpus, scratch)
            names = [check_table_name(name) for name in run.tables if name not in RESERVED]
            with writing(self.folder):
                tables = {name: write_table(name, run.given_table(name), claim.folder) for name in names}
            facts = replace(facts, corpus=corpus.checksum if corpus else "", tables=tables)
            if run.stored and (written := read_annotations(run.path)) != Annotations():
                write_annotations(claim.folder, written)
            with self._locked():
                if (equal := self._equal(facts)) is not None:
                    claim.discard()
                    return self._made_again(equal, facts)
                if corpus is not None:
                    self._corpora.add(corpus, scratch)
                facts = replace(facts, id=self._free_id(facts))
                write_manifest(claim.folder, facts)
                with writing(self.folder):
                    claim.publish(self.folder / facts.id)
        except BaseException:
            with writing(self.folder):
                claim.discard()
            self._workspace.remove_if_empty(self.folder / CORPORA, self.folder)
            raise
        return Run.load(self.folder / facts.id, facts)

    def _equal(self, manifest: Manifest) -> Path | None:
        """The stored run that equals another."""
        digest = content_digest(manifest)
        found = (folder for folder in sorted(self.folder.glob(f"*-{digest[:4]}")) if is_run_id(folder.name))
        return next((folder for folder in found if _digest_in(folder) == digest), None)

    def _made_again(self, folder: Path, now: Manifest) -> Run:
        """A stored run with the time, command and paths of the call that made it again."""
        manifest = replace(load(folder), created=now.created, command=now.command, inputs=now.inputs)
        write_manifest(folder, manifest)
        return Run.load(folder, manifest)

    def _free_id(self, manifest: Manifest) -> str:
        """An id that ends in the beginning of the checksum; in something random where that one is taken."""
        name = new_id(manifest.created, manifest.kind, manifest.name, content_digest(manifest)[:4])
        while os.path.lexists(self.folder / name):
            name = new_id(manifest.created, manifest.kind, manifest.name)
        return name

    def _locked(self) -> AbstractContextManager[None]:
        """The lock under which runs and corpora come and go."""
        return self._workspace.locked("store")

    def _collect(self) -> None:
        """Delete the corpora that no run needs; whoever calls this holds the lock."""
        with writing(self.folder):
            for corpus in self._corpora.unused():
                delete_tree(self._workspace.take_out(corpus))

    def __repr__(self) -> str:
        return f"<Store {str(self.folder)!r}>"

    @contextmanager
    def kept_units(self, *, kind: str, name: str, config: Mapping[str, Any]) -> Iterator[Parts]:
        """The finished units of long work: found again by the configuration and our own source when the block or the
        process failed, deleted when the block ends. Store the run within it."""
        facts = (kind, name, {**config, "code": own_source()})
        claim = self._workspace.resume(resumable_name(slug(f"{kind}-{name}"), facts))
        if claim is None:
            raise DialgaugeError("another process is working on the same files; wait for it or stop it")
        try:
            yield Parts(claim.folder / "units")
        except BaseException:
            claim.leave() if any(path.is_file() for path in claim.folder.rglob("*")) else claim.discard()
            raise
        with writing(self.folder):
            claim.discard()

    def check_writable(self) -> None:
        """Raise now if a run could not be stored later."""
        with writing(self.folder):
            probe(self.folder / WORK)

    def unfinished(self) -> Sequence[str]:
        """Names of resumable work that waits to be taken up again by the call that began it."""
        return self._workspace.unfinished()

    def survey(self) -> Survey:
        """Every run that can be read, and what is wrong with the others."""
        survey = Survey([], [])
        for name in self._names():
            try:
                run = Run.load(self.folder / name)
                run.check()
            except DialgaugeError as problem:
                survey.problems.append(problem)
            else:
                survey.runs.append(run)
        survey.runs.sort(key=lambda run: (run.manifest.created, run.id))
        return survey

    def list(self) -> list[Manifest]:
        """The manifests of all readable runs, oldest first; :meth:`survey` also names the damaged ones."""
        return [run.manifest for run in self.survey().runs]

    def open(self, id: str) -> Run:
        """The run with this id, or what else :meth:`resolve` takes."""
        return Run.load(self.folder / self.resolve(id))

    def resolve(self, id: str, *, unfinished: bool = False) -> str:
        """The full id for whatever a person calls a run by.

        An id or a prefix that fits one run only; ``latest``, ``latest:KIND``; the name of a system or a tag, of which
        the newest run is meant. Names of unfinished work too, if asked for.
        """
        if is_run_id(id) and (self.folder / id).is_dir():
            return id
        names = [*self._names(), *(self.unfinished() if unfinished else ())]
        if id in names:
            return id
        matches = [name for name in names if name.startswith(id)] if id else []
        if len(matches) == 1:
            return matches[0]
        if (named := self._named(id)) is not None:
            return named
        if matches:
            raise DialgaugeError(
                f"'{id}' matches {len(matches)} runs ({some_of(matches)}); give more of the id", file=str(self.folder)
            )
        hint = nearest(id, names) if names else " The store is empty."
        raise DialgaugeError(f"there is no run '{id}'.{hint}", file=str(self.folder))

    def _named(self, name: str) -> str | None:
        """The newest run that a name means."""
        word, _, kind = name.partition(":")
        runs = self.survey().runs
        if word == LATEST:
            fitting = [run for run in runs if not kind or run.kind == kind]
            if kind and not fitting:
                kinds = sorted({run.kind for run in runs})
                hint = nearest(kind, kinds)
                raise DialgaugeError(f"there is no run of the kind '{kind}'.{hint}", file=str(self.folder))
        else:
            fitting = [run for run in runs if run.name == name]
            fitting = fitting or [run for run in runs if name in read_annotations(run.path).tags]
        kinds = sorted({run.kind for run in fitting})
        if word != LATEST and len(kinds) > 1:
            raise DialgaugeError(
                f"'{name}' has runs of the kinds {', '.join(kinds)}; give an id, or latest:{kinds[0]}",
                file=str(self.folder),
            )
        return fitting[-1].id if fitting else None

    def remove(self, id: str) -> None:
        """Delete a run, whole or damaged, or unfinished work; it disappears by one rename.

        Its dialogues go with it unless another run needs them.
        """
        name = self.resolve(id, unfinished=True)
        if name in self.unfinished():
            claim = self._workspace.resume(name)
            if claim is None:
                raise DialgaugeError("another process is working on it; wait for it or stop it", file=name)
            claim.discard()
            return
        with self._locked(), writing(self.folder):
            gone = self._workspace.take_out(self.folder / name)
            self._collect()
        with writing(self.folder):
            delete_tree(gone)

    def annotations(self, id: str) -> Annotations:
        """What people wrote about a run and its dialogues; empty where nobody did."""
        return read_annotations(self.folder / self.resolve(id))

    def tag(self, id: str, tags: Iterable[str] = (), *, without: Iterable[str] = ()) -> Annotations:
        """Add tags to those of a run, and take some away."""
        added, gone = list(tags), set(without)

        def change(old: Annotations) -> Annotations:
            kept = [tag for tag in (*old.tags, *added) if tag not in gone]
            return replace(old, tags=checked_labels(kept, "tag"))

        return self._rewrite(self.resolve(id), change)

    def annotate(
        self, id: str, *, dialogue: str = "", labels: Iterable[str] | None = None, note: str | None = None
    ) -> Annotations:
        """Replace the labels or the note of a dialogue, or the tags or the note of the run; None leaves them."""
        run = self.open(id)
        if dialogue:
            run.dialogue(dialogue)
        new: dict[str, Any] = {} if note is None else {"note": encodable(note).strip()}

        def change(old: Annotations) -> Annotations:
            if not dialogue:
                return replace(old, **new, **({} if labels is None else {"tags": checked_labels(labels, "tag")}))
            own = {} if labels is None else {"labels": checked_labels(labels, "label")}
            after = replace(old.dialogues.get(dialogue, DialogueNote()), **new, **own)
            changed = {**old.dialogues, dialogue: after}
            return replace(old, dialogues={name: text for name, text in changed.items() if text != DialogueNote()})

        return self._rewrite(run.id, change)

    def _rewrite(self, name: str, change: Callable[[Annotations], Annotations]) -> Annotations:
        """Change the annotations of a run while no other process does."""
        with self._workspace.locked(f"annotations-{name}"):
            old = read_annotations(self.folder / name)
            new = change(old)
            if new != old:
                write_annotations(self.folder / name, new)
            return new

    def sql(self, query: str, *, on_problem: Callable[[DialgaugeError], None] | None = None) -> polars.DataFrame:
        """The answer to one SELECT over all runs (see ``runs.sql``).

        A damaged run is an error, unless ``on_problem`` takes it: then the answer leaves that run out.
        """
        from dialgauge.runs.sql import select

        def tell(problem: DialgaugeError) -> None:
            if on_problem is None:
                raise problem
            on_problem(problem)

        runs, problems = self.survey()
        for problem in problems:
            tell(problem)
        return select(query, runs, tell)

    def _names(self) -> Sequence[str]:
        """Folders that are runs or should be; other things in the folder are left alone."""
        try:
            if self.folder.exists() and not self.folder.is_dir():
                raise DialgaugeError("this is a file, not a run store; name a folder", file=str(self.folder))
            entries = sorted(self.folder.iterdir()) if self.folder.is_dir() else []
            folders = [entry for entry in entries if not entry.name.startswith(".") and entry.is_dir()]
            return [entry.name for entry in folders if is_run_id(entry.name) or (entry / MANIFEST).exists()]
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise DialgaugeError(f"the run store cannot be read ({reason})", file=str(self.folder)) from error


def _digest_in(folder: Path) -> str:
    """The checksum of a stored run; empty where it is damaged."""
    try:
        run = Run.load(folder)
        run.check()
    except DialgaugeError:
        return ""
    return content_digest(run.manifest)
