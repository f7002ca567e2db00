"""Copying everything from one store into another, empty one.

How far a copy has come is a record of the target, so that one that was killed goes on there. What
was written last may be written again after that: no write of a record that is there counts twice.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import asdict, astuple, dataclass, field, fields
from hashlib import sha256
from typing import Any

from tickwell.clock import NEVER
from tickwell.domain.change import Change
from tickwell.domain.document import job_to_document
from tickwell.domain.execution import Attempt, Execution, RangeSkip
from tickwell.domain.job import Entry, JobState
from tickwell.domain.step import Step
from tickwell.errors import StoreError, StoreRefused
from tickwell.ports.records import JobFilter, Record
from tickwell.ports.store import Store
from tickwell.ports.transfer import KeptExecution

#: The record of the target that says how far a copy has come; it is not copied itself.
MARK = "store_copy"
KINDS = ("jobs", "skips", "records", "executions")
#: Of a copy, in this order. Deleted jobs first: their names may be taken again.
STAGES = ("deleted", "jobs", "records", "executions")
PAGE = 1000
#: Digests are added up, so that it does not matter in which order a store lists.
_MODULUS = 2**128
EVERY_JOB = JobFilter(states=frozenset(JobState))
_LISTED = {
    "deleted": JobFilter(states=frozenset({JobState.DELETED})),
    "jobs": JobFilter(),
}

#: Told of every page: how many jobs or executions of it were copied or verified.
Told = Callable[[int], None]


@dataclass(slots=True)
class Tally:
    """How many there are of a kind, and a digest of all of them."""

    count: int = 0
    digest: int = 0

    def add(self, texts: Iterable[str]) -> None:
        """Count these in, in whatever order."""
        for text in texts:
            self.count += 1
            found = int.from_bytes(sha256(text.encode()).digest()[:16])
            self.digest = (self.digest + found) % _MODULUS

    @property
    def hex(self) -> str:
        """The digest as people compare it."""
        return f"{self.digest:032x}"


def _tallies() -> dict[str, Tally]:
    return {kind: Tally() for kind in KINDS}


@dataclass(slots=True)
class Progress:
    """How far a copy has come."""

    #: The name of the store that is copied.
    source: str
    #: When the copy began: what has expired by then is left out, of what was copied as well as of
    #: what is verified, however long it takes.
    began: int
    stage: str = STAGES[0]
    #: Where the stage goes on: a page cursor, an id, or the key of a record.
    after: Any = None
    tallies: dict[str, Tally] = field(default_factory=_tallies)

    def document(self) -> Any:
        """As the record has it."""
        tallies = {kind: [tally.count, tally.hex] for kind, tally in self.tallies.items()}
        return {
            "source": self.source,
            "began": self.began,
            "stage": self.stage,
            "after": self.after,
            "tallies": tallies,
        }

    @classmethod
    def read(cls, document: Any) -> Progress:
        """From the record."""
        tallies = {
            kind: Tally(count, int(digest, 16))
            for kind, (count, digest) in document["tallies"].items()
        }
        named = {name: document[name] for name in ("source", "began", "stage", "after")}
        return cls(**named, tallies=tallies)


class StoreCopy:
    """One copy, from an open store into another one."""

    def __init__(self, source: Store, target: Store) -> None:
        self.source = source
        self.target = target
        self.progress = Progress(source.name, 0)
        #: Whether an earlier copy is continued.
        self.continues = False

    async def prepare(self, *, live: bool = False) -> None:
        """Refuse what cannot be copied, and find out where to begin."""
        if self.target.name == self.source.name:
            raise StoreRefused(
                f"{self.source.name} cannot be copied into itself; name another store"
            )
        self.progress.began = await self.source.ping()
        if not live:
            await self._require_stopped(self.source)
            await self._require_stopped(self.target)
        mark = await self.target.get_record(MARK, "", "", await self.target.ping())
        if mark is not None:
            self.progress, self.continues = Progress.read(mark.document), True
            if self.progress.source != self.source.name:
                raise StoreRefused(
                    f"{self.target.name} holds an unfinished copy of {self.progress.source}, not of"
                    f" {self.source.name}; continue that one, or copy into an empty store"
                )
        elif not await self._is_empty():
            raise StoreRefused(
                f"{self.target.name} is not empty; copy into a store that holds no jobs, runs or"
                " records yet: another database, schema or file"
            )
        else:
            await self._save()

    async def _require_stopped(self, store: Store) -> None:
        now = await store.ping()
        alive = [each.worker for each in await store.list_workers() if each.is_alive(now)]
        if alive:
            first = f"process {alive[0].pid} on {alive[0].host}"
            others = f" and {len(alive) - 1} more" if len(alive) > 1 else ""
            raise StoreRefused(
                f"{store.name} is in use by {first}{others}; stop all services, or wait a minute"
                " if they were killed. --live copies anyway: what changes meanwhile may be missing"
            )

    async def _is_empty(self) -> bool:
        if (await self.target.list_jobs(EVERY_JOB, None, 1)).items:
            return False
        if await self.target.read_executions("", 1):
            return False
        return not await self.target.read_records(("", "", ""), await self.target.ping(), 1)

    @property
    def done(self) -> int:
        """How many jobs and executions are copied already."""
        return self.progress.tallies["jobs"].count + self.progress.tallies["executions"].count

    async def total(self) -> int:
        """About how many jobs and executions there are to be copied."""
        jobs = sum((await self.source.count_jobs()).values())
        return jobs + sum((await self.source.stats()).values())

    async def copy(self, told: Told) -> None:
        """Copy what is not copied yet."""
        for stage in STAGES[STAGES.index(self.progress.stage) :]:
            if stage != self.progress.stage:
                self.progress.stage, self.progress.after = stage, None
                await self._save()
            if stage in _LISTED:
                await self._copy_jobs(stage, told)
            elif stage == "records":
                await self._copy_records(told)
            else:
                await self._copy_executions(told)

    async def _copy_jobs(self, stage: str, told: Told) -> None:
        copied = 0
        async for entries, cursor in _job_pages(self.source, stage, self.progress.after):
            if stage == "deleted":
                for entry in entries:
                    await self._add_deleted(entry)
            elif entries:
                await self._add(entries)
            skips = [skip for entry in entries for skip in await self._copy_skips(entry)]
            copied += len(entries)
            told(len(entries))
            if cursor is None and stage == "jobs":
                await self._require_all(copied)
            await self._note(cursor, jobs=map(_job_text, entries), skips=map(_skip_text, skips))

    async def _add(self, entries: list[Entry]) -> None:
        """A job answers to its present key there, which another one may have been created with."""
        added = await self.target.add_jobs(entries, self.progress.began)
        for entry, there in zip(entries, added, strict=True):
            if there.job.id != entry.job.id:
                raise StoreError(
                    f"jobs {entry.job.name!r} and {there.job.name!r} of project"
                    f" {entry.job.project!r} have the same dedupe_key {entry.job.dedupe_key!r};"
                    f" edit the key of one of them, empty {self.target.name} and copy again"
                )

    async def _add_deleted(self, entry: Entry) -> None:
        """Under its name, which is free again once it is deleted there as well."""
        job, cursor = entry.job, entry.cursor
        await self.target.add_jobs([entry], self.progress.began)
        await self.target.change_jobs(
            job.project, [job.id], lambda _, __: Change(cursor=cursor), self.progress.began
        )

    async def _copy_skips(self, entry: Entry) -> list[RangeSkip]:
        skips = await self.source.list_skips(entry.job.id, 0, NEVER)
        if skips:
            await self.target.restore_skips(entry.job, skips)
        return skips

    async def _require_all(self, copied: int) -> None:
        """Lists leave out what cannot be read here: that would be missing without a word."""
        there = sum((await self.source.count_jobs()).values())
        if not self.continues and copied < there:
            raise StoreError(
                f"{there - copied} of {there} jobs in {self.source.name} cannot be read by this"
                " version; tickwell doctor names them. Copy with the version that wrote them"
            )

    async def _copy_records(self, told: Told) -> None:
        after = tuple(self.progress.after or ("", "", ""))
        async for records in _record_pages(self.source, self.progress.began, after):
            await self.target.restore_records(records)
            last = records[-1]
            await self._note(
                [last.kind, last.project, last.key], records=map(_record_text, records)
            )

    async def _copy_executions(self, told: Told) -> None:
        async for kept in _execution_pages(self.source, self.progress.after or ""):
            await self.target.restore_executions(kept)
            told(len(kept))
            await self._note(kept[-1].execution.id, executions=map(_execution_text, kept))

    async def _note(self, after: Any, **texts: Iterable[str]) -> None:
        self.progress.after = after
        for kind, some in texts.items():
            self.progress.tallies[kind].add(some)
        await self._save()

    async def _save(self) -> None:
        mark = Record(kind=MARK, project="", key="", document=self.progress.document())
        await self.target.restore_records([mark])

    async def verify(self, told: Told) -> dict[str, Tally]:
        """Read all of the target, compare it with what was copied, and end the copy."""
        found = _tallies()
        for stage in _LISTED:
            async for entries, _ in _job_pages(self.target, stage, None):
                found["jobs"].add(map(_job_text, entries))
                for entry in entries:
                    skips = await self.target.list_skips(entry.job.id, 0, NEVER)
                    found["skips"].add(map(_skip_text, skips))
                told(len(entries))
        async for records in _record_pages(self.target, self.progress.began, ("", "", "")):
            found["records"].add(map(_record_text, records))
        async for kept in _execution_pages(self.target, ""):
            found["executions"].add(map(_execution_text, kept))
            told(len(kept))
        wrong = [kind for kind in KINDS if found[kind] != self.progress.tallies[kind]]
        if wrong:
            kind = wrong[0]
            expected = self.progress.tallies[kind]
            raise StoreError(
                f"the copy differs from the original: {expected.count:,} {kind} were read and"
                f" {found[kind].count:,} are there, with digests {expected.hex[:12]} and"
                f" {found[kind].hex[:12]}. Another process may use {self.target.name}; empty it and"
                " copy again"
            )
        await self.target.delete_record(MARK, "", "")
        return found


async def _job_pages(
    store: Store, stage: str, cursor: str | None
) -> AsyncIterator[tuple[list[Entry], str | None]]:
    while True:
        page = await store.list_jobs(_LISTED[stage], cursor, PAGE)
        yield page.items, page.cursor
        cursor = page.cursor
        if cursor is None:
            return


async def _record_pages(
    store: Store, now: int, after: tuple[str, str, str]
) -> AsyncIterator[list[Record]]:
    while records := await store.read_records(after, now, PAGE):
        last = records[-1]
        after = last.kind, last.project, last.key
        if some := [each for each in records if each.kind != MARK]:
            yield some


async def _execution_pages(store: Store, after: str) -> AsyncIterator[list[KeptExecution]]:
    """Page by page; the next one is read while the caller works on one."""
    reading = asyncio.ensure_future(store.read_executions(after, PAGE))
    try:
        while kept := await reading:
            reading = asyncio.ensure_future(store.read_executions(kept[-1].execution.id, PAGE))
            yield kept
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


def _text(*values: Any) -> str:
    """What a digest is made of. A store may not hold half a character or NUL: as it has them."""
    written = _write(values)
    if not written.isascii():
        written = written.encode("utf-8", "replace").decode()
    return written.replace("\\u0000", "\N{REPLACEMENT CHARACTER}")


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, frozenset | set | tuple) else str(value)


#: Made once: `json.dumps` with options makes one for every call.
_write = json.JSONEncoder(separators=(",", ":"), default=_plain, ensure_ascii=False).encode


def _job_text(entry: Entry) -> str:
    return _text(job_to_document(entry.job), asdict(entry.cursor))


def _skip_text(skip: RangeSkip) -> str:
    return _text(skip.job_id, skip.first, skip.last, skip.count, skip.reason)


def _record_text(record: Record) -> str:
    return _text(*astuple(record))


def _execution_text(kept: KeptExecution) -> str:
    one = kept.execution
    return _text(
        *[getattr(one, name) for name in _EXECUTION],
        [[getattr(each, name) for name in _ATTEMPT] for each in one.attempts],
        [[getattr(each, name) for name in _STEP] for each in kept.steps],
        *[getattr(kept, name) for name in _KEPT],
    )


def _names(kind: Any, *without: str) -> list[str]:
    return [each.name for each in fields(kind) if each.name not in without]


_EXECUTION = _names(Execution, "attempts", "is_new")
_ATTEMPT = _names(Attempt)
_STEP = _names(Step, "execution")
_KEPT = _names(KeptExecution, "execution", "steps")
