"""Whether the job of a document fires: `state`, `pause`, and the flat `enabled`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tickwell.domain.document.values import INSTANT, Unfit
from tickwell.domain.job import JobState
from tickwell.errors import InvalidInput, InvalidJob

#: The fields of a document that say it.
FIELDS = frozenset({"state", "pause", "enabled"})
_STATES = {"active": False, "paused": True}
#: What a pause has when it is read; the last three are read-only.
_PARTS = frozenset({"why", "until", "by", "since", "scope"})


@dataclass(frozen=True, slots=True, kw_only=True)
class InitialState:
    """What a document says; one that says nothing is that of an active job."""

    paused: bool = False
    #: None where no pause says it.
    why: str | None = None
    until: int | None = None
    #: Whether the document says anything.
    stated: bool = False

    def is_paused(self, now: int) -> bool:
        """Whether the job begins paused; a pause that is over counts no more."""
        return self.paused and (self.until is None or self.until > now)


ACTIVE = InitialState()


def initial_state(document: Any) -> InitialState:
    """What a document says of it; `InvalidJob` for what cannot be, or contradicts itself."""
    if not isinstance(document, dict) or not FIELDS & document.keys():
        return ACTIVE
    pause = document.get("pause")
    stated = {
        name: paused
        for name, paused in (
            ("state", _of_state(document.get("state"))),
            ("enabled", _of_enabled(document.get("enabled"))),
            ("pause", None if pause is None else True),
        )
        if paused is not None
    }
    if not stated:
        return ACTIVE
    if len(set(stated.values())) > 1:
        raise InvalidJob(f"{' and '.join(stated)} contradict each other", field=next(iter(stated)))
    why, until = _of_pause(pause)
    return InitialState(paused=True in stated.values(), why=why, until=until, stated=True)


def _of_state(state: Any) -> bool | None:
    if state is None:
        return None
    if not isinstance(state, str) or state not in _STATES:
        hint = 'Use "active" or "paused"; a job finishes when no fire time is left'
        raise InvalidJob(f"no job can be saved as {state!r}", field="state", hint=hint)
    return _STATES[state]


def _of_enabled(enabled: Any) -> bool | None:
    if enabled is not None and not isinstance(enabled, bool):
        raise InvalidInput("is neither true nor false", field="enabled")
    return None if enabled is None else not enabled


def _of_pause(pause: Any) -> tuple[str | None, int | None]:
    if pause is None:
        return None, None
    why, until = (pause.get("why"), pause.get("until")) if isinstance(pause, dict) else (0, None)
    if not isinstance(why, str | None) or not pause.keys() <= _PARTS:
        raise _no_pause()
    if until is None:
        return why or "", None
    try:
        return why or "", INSTANT.read(until if isinstance(until, str) else "")
    except (Unfit, InvalidInput):
        raise _no_pause() from None


def _no_pause() -> InvalidJob:
    hint = 'For example {"why": "holidays", "until": "2027-01-07T00:00:00Z"}'
    return InvalidJob("is no pause", field="pause", hint=hint)


def require_unchanged(document: Any, current: JobState) -> None:
    """Refuse an edit that says that the job is paused and it is not, or the other way round."""
    try:
        requested = initial_state(document)
    except InvalidJob:
        if isinstance(document, dict) and document.get("state") == current.value:
            return  # sent back as it was read
        raise
    if requested.stated and requested.paused is not (current is JobState.PAUSED):
        field = next(name for name in ("enabled", "state", "pause") if name in document)
        raise InvalidJob("cannot be edited", field=field, hint="Pause or resume the job")
