"""What an attempt has done already, and what earlier attempts of its execution did."""

from __future__ import annotations

import json
from typing import Any, Protocol

from tickwell.domain.execution import Claim
from tickwell.domain.step import CHECKPOINT, LONGEST_NAME, MOST_CHARACTERS, MOST_STEPS, WAIT, Step
from tickwell.errors import InvalidInput, InvalidPayload
from tickwell.executors.results import LIMIT, as_json
from tickwell.executors.text import clean


class StepNotes(Protocol):
    """Where steps are kept."""

    async def read_steps(self, claim: Claim) -> list[Step]:
        """What earlier attempts have done."""
        ...

    async def write_step(self, claim: Claim, name: str, value: Any, *, is_final: bool) -> None:
        """Keep a step; returns once it is in the store. Raises `StaleAttempt`."""
        ...


class RunSteps:
    """The steps of one execution, as one of its attempts sees them."""

    __slots__ = ("_claim", "_known", "_names", "_notes", "_outside", "_size")

    def __init__(self, claim: Claim, notes: StepNotes) -> None:
        self._claim = claim
        self._notes = notes
        #: By name; read when the first one is asked for.
        self._known: dict[str, Step] | None = None
        #: Those that this attempt has asked for.
        self._names: set[str] = set()
        #: Of them, those from before the handler was called; None: it was not called yet.
        self._outside: frozenset[str] | None = None
        self._size = 0

    def begin(self) -> None:
        """The handler is called; by middleware that tries once more, with the names free again."""
        if self._outside is None:
            self._outside = frozenset(self._names)
        else:
            self._names = {*self._outside}

    def claim_name(self, name: str) -> None:
        """Take a name for a step; each may be taken once in an attempt."""
        check_name(name)
        if name in self._names:
            raise InvalidInput(
                f"this attempt has a step {name!r} already, and would get its result",
                field="step",
                hint='Give each its own name, for example f"charge-{number}"',
            )
        self._names.add(name)

    def release_name(self, name: str) -> None:
        """Let a step be tried again in this attempt: its function raised, and did nothing."""
        self._names.discard(name)

    async def find(self, name: str) -> Step | None:
        """The step of this name, if it is done."""
        return (await self._read()).get(name)

    async def keep(self, name: str, value: Any) -> Any:
        """Record what a step returned; the same as JSON has it, which later attempts get."""
        return await self._write(name, value, f"step {name!r}", is_final=True)

    async def checkpoint(self, value: Any) -> None:
        """Record how far the work is, in place of the checkpoint before."""
        await self._write(CHECKPOINT, value, "the checkpoint", is_final=False)

    async def last_checkpoint(self) -> Any:
        """The newest checkpoint of the execution, or None."""
        found = await self.find(CHECKPOINT)
        return None if found is None else found.value

    async def _read(self) -> dict[str, Step]:
        if self._known is None:
            found = {one.name: one for one in await self._notes.read_steps(self._claim)}
            if self._known is None:  # two steps at once may both have asked
                self._known = found
                self._size = sum(len(json.dumps(one.value)) for one in found.values())
        return self._known

    async def _write(self, name: str, value: Any, what: str, *, is_final: bool) -> Any:
        known = await self._read()
        text = _as_json(value, what)
        replaced = len(json.dumps(known[name].value)) if name in known else 0
        size = self._size + len(text) - replaced
        if size > MOST_CHARACTERS or (name not in known and len(known) >= MOST_STEPS):
            raise InvalidPayload(
                f"an execution may have {MOST_STEPS:,} steps and {MOST_CHARACTERS:,} characters of"
                f" results in all; {what} would be more",
                field="step",
                hint="Return less: store it elsewhere and return its address",
            )
        stored = json.loads(text)
        self._size = size
        await self._notes.write_step(self._claim, name, stored, is_final=is_final)
        known[name] = Step(
            execution=self._claim.id,
            attempt=self._claim.attempt,
            name=name,
            value=stored,
            at=0,
            is_final=is_final,
        )
        return json.loads(text)  # the handler may change it


def check_name(name: str) -> str:
    """Refuse what is no name of a step, or of what an execution waits for."""
    is_name = isinstance(name, str) and 1 <= len(name) <= LONGEST_NAME
    if not is_name or "\0" in name or name.startswith(WAIT):
        raise InvalidInput(
            f"{name!r:.80} is not a name of 1 to {LONGEST_NAME} characters", field="step"
        )
    return name


def _as_json(value: Any, what: str) -> str:
    try:
        text = as_json(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidPayload(
            f"{what} returned {type(value).__name__}, which is not JSON: {clean(str(error))[:200]}",
            field="step",
            hint="Return what JSON has: texts, numbers, lists, dictionaries",
        ) from error
    if len(text) > LIMIT:
        raise InvalidPayload(
            f"{what} has {len(text):,} characters of JSON; {LIMIT:,} are kept",
            field="step",
            hint="Return less: store it elsewhere and return its address",
        )
    return text
