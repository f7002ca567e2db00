"""Pruning on SQLite."""

from __future__ import annotations

import json
from collections import Counter

from tickwell.domain.policy import DAY
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sql.documents import old_span, unneeded, until_next_look
from tickwell.stores.sqlite.base import SqliteBase
from tickwell.stores.sqlite.firing import definitions
from tickwell.stores.sqlite.session import Session


class SqliteUpkeep(SqliteBase):
    """The part of `ports.store.Upkeep` that deletes."""

    #: When to look again at jobs with more on record than is kept, by their keys.
    _looks: dict[int, int]

    async def prune(self, now: int, limit: int) -> int:
        def work(session: Session) -> int:
            old = [key for (key,) in session.rows("past_age", now, limit)]
            drop_executions(session, old)
            over = self._past_count(session, now, limit - len(old))
            drop_executions(session, over)
            pruned = len(old) + len(over)
            pruned += session.run("old_skips", now, limit).rowcount
            pruned += _drop_versions(session, self.cache, now, limit)
            pruned += session.run("expired_records", now, limit).rowcount
            pruned += session.run("prune_workers", now - DAY, limit).rowcount
            return pruned + _drop_jobs(session, limit)

        return await self.writer.call(work)

    def _past_count(self, session: Session, now: int, limit: int) -> list[int]:
        keys, later = list[int](), dict[int, int]()
        for job, keep, made in session.rows("jobs_over"):
            if len(keys) >= limit:
                break
            if now < (look := self._looks.get(job, 0)):
                later[job] = look
                continue
            found = session.rows("past_count", job, limit - len(keys), keep)
            keys += [key for (key,) in found]
            if len(keys) < limit:
                later[job] = now + until_next_look(made - keep - len(found))
        self._looks = later
        return keys


def drop_executions(session: Session, keys: list[int]) -> None:
    """Delete executions that have ended, with their attempts, and count them no more."""
    if not keys:
        return
    asked = json.dumps(keys)
    made: Counter[int] = Counter()
    ended: Counter[tuple[str, int]] = Counter()
    for job, project, state, count in session.rows("count_pruned", asked):
        made[job] += count
        ended[project, state] += count
    session.many("uncount_made", [(count, job) for job, count in made.items()])
    session.many("count_ended", [(*which, -count) for which, count in ended.items()])
    session.run("prune_attempts", asked)
    session.run("prune_executions", asked)


def _drop_versions(session: Session, cache: JobCache, now: int, limit: int) -> int:
    edited = session.rows("edited_jobs")
    jobs = definitions(session, cache, edited, now)
    dropped = 0
    for key, id, version in edited:
        if key not in jobs or dropped >= limit:
            continue
        project, age = jobs[key].project, jobs[key].retention.age
        span = old_span(id, version)
        rows = session.rows("old_versions", project, *span, limit - dropped + 1)
        gone = unneeded(rows, now - age)
        session.run("drop_versions", project, json.dumps(gone))
        dropped += len(gone)
    return dropped


def _drop_jobs(session: Session, limit: int) -> int:
    gone = session.rows("gone_jobs", limit)
    for job, id in gone:
        for (project,) in session.rows("prune_jobs", job):
            session.run("prune_versions", project, f"{id}/", f"{id}0")
        session.run("prune_cursors", job)
        session.run("prune_skips", job)
    return len(gone)
