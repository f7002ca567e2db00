"""Users of the simulated system: they request runs and, if the scenario says so, change jobs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from typing import cast

from tickwell import ids
from tickwell.clock import Clock
from tickwell.domain.change import Changer, delete, edit, pause, resume
from tickwell.domain.execution import Kind, State
from tickwell.domain.gate import Overlap
from tickwell.domain.job import Entry, Job, Pause, PauseScope
from tickwell.domain.planning import first_cursor, is_paused_alone, new_execution
from tickwell.domain.project_pause import (
    EVERYTHING,
    Phase,
    ProjectPause,
    scope_of,
)
from tickwell.engine.planning.project_pauses import (
    PauseStore,
    follow,
    read_pauses,
    write_pause,
)
from tickwell.errors import StoreError, TickwellError
from tickwell.testing.simulation.jobs import make_job, make_jobs, make_trigger
from tickwell.testing.simulation.loop import Process
from tickwell.testing.simulation.network import Line, NodeStore
from tickwell.testing.simulation.scenario import Fault
from tickwell.testing.simulation.watch import Watch
from tickwell.testing.simulation.world import World


class _StoreTime:
    """What people's watches show."""

    def __init__(self, world: World) -> None:
        self.now = world.store_time


def _has_own_pause(entry: Entry) -> bool:
    """A person resumes a job alone; one that is paused with its project goes on with that."""
    pause = entry.cursor.pause
    return pause is None or pause.scope is PauseScope.JOB


_CHANGES = ("pause", "resume", "resume", "edit", "cancel", "revive", "delete", "add")


class People:
    """They know the store's time, and try again when a call fails."""

    def __init__(self, world: World, watch: Watch) -> None:
        self.world = world
        self.store = NodeStore(Line(world, watch, Process("people")))
        self.random = world.random("people")
        year = Fault.YEAR in world.scenario.faults
        self.periods = (120, 600) if year else (1, 15)
        self._added = 0
        self._pauses = cast("PauseStore", self.store)
        self._clock = cast("Clock", _StoreTime(world))

    async def begin(self) -> None:
        """Add the jobs of the scenario."""
        now = self.world.store_time()
        entries = [
            Entry(job, first_cursor(job, now)) for job in make_jobs(self.world.scenario, now)
        ]
        await self._try("add_jobs", entries, now)

    async def run(self) -> None:
        """Until the time for faults is over."""
        await asyncio.gather(self._change_jobs(), self._pause_projects())

    async def _change_jobs(self) -> None:
        while self.world.loop.time() < self.world.scenario.duration:
            await self.world.sleep(self.random.expovariate(1 / 4))
            await self.request()
            if Fault.PEOPLE in self.world.scenario.faults:
                await self.change(self.random.choice(_CHANGES))

    async def request(self) -> None:
        """Ask for a run now."""
        job = self._any()
        now = self.world.store_time()
        overlap = Overlap.ALLOW if self.random.random() < 0.7 else job.overlap
        new = new_execution(
            job, now, id=ids.new_id(now, self.random), kind=Kind.REQUEST, overlap=overlap
        )
        await self._try("add_executions", [new], now, 0)

    async def change(self, what: str) -> None:
        """One change to one job or execution."""
        job, now, random = self._any(), self.world.store_time(), self.random
        self.world.note("people", f"{what} {job.id}")
        if what == "pause":
            until = now + random.randint(0, 30_000) if random.random() < 0.5 else None
            await self._change(job, pause("somebody", "to see", until))
        elif what == "resume" and _has_own_pause(self.world.store.tables.jobs[job.id]):
            await self._change(job, resume())
        elif what == "edit":
            trigger = make_trigger(random, now, self.periods)
            await self._change(job, edit(replace(job, trigger=trigger)))
        elif what == "add":
            await self._add(now)
        elif what == "delete" and random.random() < 0.3:
            await self._change(job, delete())
        elif what == "cancel":
            await self._try("request_cancel", job.project, self._executions(job, None), now)
        elif what == "revive":
            dead = self._executions(job, State.DEAD)
            await self._try("revive", job.project, dead, now)

    async def _pause_projects(self) -> None:
        """Pause the project, or everything, and resume it, over and over."""
        random, world = self.world.random("projects"), self.world
        while Fault.PROJECT in world.scenario.faults:
            await world.sleep(random.expovariate(1 / 6))
            if world.loop.time() >= world.scenario.duration:
                return
            key = random.choice(("default", EVERYTHING))
            until = world.store_time() + random.randint(1, 20_000)
            if random.random() < 0.5:
                await self._pause_project(key, None if random.random() < 0.7 else until)
            else:
                await self._resume_project(key)

    async def _pause_project(self, key: str, until: int | None) -> None:
        jobs = frozenset(self.world.store.tables.jobs)
        note = Pause(
            by="somebody",
            why="to see",
            since=self.world.store_time(),
            until=until,
            scope=scope_of(key),
        )
        self.world.note("people", f"pause {key}")
        self.world.paused_jobs = frozenset()
        with suppress(StoreError):  # a reaper goes on with what broke off
            await write_pause(self._pauses, ProjectPause(project=key, pause=note), note.since)
            await follow(self._pauses, self._clock, key)
            rows = self.world.store.tables
            self.world.running_then = frozenset(
                (id, rows.rows[id].execution.attempt) for id in rows.running
            )
            if until is None and Fault.PEOPLE not in self.world.scenario.faults:
                self.world.paused_jobs = jobs

    async def _resume_project(self, key: str) -> None:
        self.world.note("people", f"resume {key}")
        self.world.paused_jobs = frozenset()
        now = self.world.store_time()
        with suppress(StoreError):
            for each in await read_pauses(self._pauses, now):
                if each.project == key:
                    ended = replace(each, phase=Phase.ENDING, ended_at=now)
                    await write_pause(self._pauses, ended, now)
                    await follow(self._pauses, self._clock, key)

    async def resume_all(self) -> None:
        """What a person paused fires again."""
        if Fault.PROJECT in self.world.scenario.faults:
            for key in ("default", EVERYTHING):
                await self._resume_project(key)
        for entry in list(self.world.store.tables.jobs.values()):
            if is_paused_alone(entry.cursor, self.world.store_time()):
                await self._change(entry.job, resume())

    async def _add(self, now: int) -> None:
        self._added += 1
        job = make_job(self.random, 100 + self._added, now, self.periods)
        await self._try("add_jobs", [Entry(job, first_cursor(job, now))], now)

    def _any(self) -> Job:
        jobs = self.world.store.tables.jobs
        return jobs[self.random.choice(sorted(jobs))].job

    def _executions(self, job: Job, state: State | None) -> list[str]:
        rows = self.world.store.tables.rows
        found = sorted(self.world.store.tables.by_job.get(job.id, ()))
        return [id for id in found if state is None or rows[id].execution.state is state][-2:]

    async def _change(self, job: Job, change: Changer) -> None:
        await self._again(
            lambda: self.store.change_jobs(job.project, [job.id], change, self.world.store_time())
        )

    async def _try(self, method: str, *args: object) -> None:
        await self._again(lambda: getattr(self.store, method)(*args))

    async def _again(self, call: Callable[[], Awaitable[object]]) -> None:
        # A change reads the clock each time it is sent, as those of the product do: it never comes
        # with an instant from before fires that have started meanwhile.
        for _ in range(20):
            try:
                await call()
            except TickwellError as error:
                if not _may_pass(error):
                    return
                await self.world.sleep(2.0)
            else:
                return


def _may_pass(error: TickwellError) -> bool:
    return "lost" in str(error)
