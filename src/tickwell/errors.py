"""Every error that Tickwell raises on purpose.

TickwellError
 +-- InvalidInput              the input is invalid; nothing was changed
 |    +-- InvalidTrigger       a trigger, cron expression, zone or window
 |    +-- InvalidJob           a job definition
 |    +-- InvalidPayload       arguments that do not fit the handler, or are not JSON
 |    +-- InvalidSetting       a setting, option or store URL
 +-- NotFound                  no such job, execution or worker
 +-- Conflict                  the record is not in the state that the change expects
 |    +-- JobExists            the name is taken in this project
 |    +-- JobIdTaken           the id belongs to a job in another project
 |    +-- VersionConflict      the job was edited since it was read
 |    +-- WrongState           the record cannot change from its state to the requested one
 |    +-- StaleAttempt         the attempt is over, and its step was not stored
 +-- AnswerTimeout             no answer arrived in time
 +-- Unauthenticated           no valid credentials
 +-- Forbidden                 the actor's role does not allow the operation
 +-- LimitReached              a limit of the project, the key or the address; try later or raise it
 +-- HandlerError              a handler cannot be used
 |    +-- UnknownHandler       no handler of that name is registered in this process
 |    +-- DuplicateHandler     two handlers claim one name
 +-- StoreError                the store failed
 |    +-- StoreUnavailable     it does not answer; repeat the same call later
 |    +-- StoreFull            no space is left where it writes
 |    +-- StoreRefused         it answers but refuses: rights, read-only, foreign file
 |    +-- SchemaTooNew         written by a newer Tickwell
 |    +-- StoreCorrupt         its content contradicts itself
 |    +-- StoreLost            it lost its data: flushed, or replaced
 +-- BrokerUnavailable         a message broker does not answer
 +-- NotRunning                the scheduler is stopped, or was never started

A message says what is wrong, where, and what to do next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class TickwellError(Exception):
    """The base of all errors that Tickwell raises on purpose."""


class InvalidInput(TickwellError, ValueError):
    """The input is invalid; nothing was changed."""

    def __init__(self, reason: str, *, field: str = "", hint: str = "") -> None:
        self.reason = reason
        #: Where in the input, as a dotted path: "trigger.cron", "retry.max_attempts".
        self.field = field
        #: What to do instead, usually an example that works.
        self.hint = hint
        #: What else is wrong in the same input, each with its own field.
        self.others: tuple[InvalidInput, ...] = ()
        message = f"{field}: {reason}" if field else reason
        super().__init__(f"{message}. {hint}" if hint else message)

    @property
    def all(self) -> tuple[InvalidInput, ...]:
        """Everything that is wrong in the input, this first."""
        return (self, *self.others)

    def along_with(self, more: Iterable[InvalidInput]) -> Self:
        """The same error, which also knows of others; each field is named once."""
        known = {each.field: each for each in reversed([*self.all, *more])}
        self.others = tuple(each for each in reversed(known.values()) if each.field != self.field)
        return self

    def placed(self, where: Callable[[str], str]) -> InvalidJob:
        """The same as an error of a job, and its others, with the fields named otherwise."""
        found = [
            InvalidJob(each.reason, field=where(each.field), hint=each.hint) for each in self.all
        ]
        return found[0].along_with(found[1:])


class InvalidTrigger(InvalidInput):
    """A trigger, cron expression, time zone or window that can never work."""


class InvalidJob(InvalidInput):
    """A job definition that breaks a rule of its own."""


class InvalidPayload(InvalidInput):
    """A payload that is not JSON, or does not fit the handler's parameters."""


class InvalidSetting(InvalidInput):
    """A setting, command-line option or store URL."""

    def __init__(self, reason: str, *, field: str = "", hint: str = "", beside: str = "") -> None:
        super().__init__(reason, field=field, hint=hint)
        #: Another setting, which it does not go with.
        self.beside = beside


class NotFound(TickwellError, LookupError):
    """No such record in this project."""

    def __init__(self, kind: str, key: str, *, hint: str = "") -> None:
        self.kind = kind
        self.key = key
        where = "" if kind in {"project", "user"} else " in this project"
        super().__init__(f"no {kind} {key!r}{where}{hint and f'. {hint}'}")


class Conflict(TickwellError):
    """The record is not in the state that the change expects."""


class JobExists(Conflict):
    """The name is taken in this project, or several of a batch are."""

    def __init__(self, name: str, *more: str) -> None:
        self.name = name
        if not more:
            message = f"a job named {name!r} exists already; edit it, or choose another name"
        else:
            shown = ", ".join(map(repr, (name, *more[:9]))) + (", …" if len(more) > 9 else "")
            message = (
                f"{len(more) + 1:,} of these names are taken: {shown};"
                " edit those jobs, or choose other names"
            )
        super().__init__(message)


class JobIdTaken(Conflict):
    """The id is that of a job in another project."""

    def __init__(self, id: str) -> None:
        self.id = id
        super().__init__(f"the id {id!r} is taken; leave it out, and Tickwell assigns one")


class VersionConflict(Conflict):
    """The job was edited since it was read."""

    def __init__(self, name: str, expected: int, found: int) -> None:
        self.name = name
        self.expected = expected
        self.found = found
        super().__init__(
            f"job {name!r} is at version {found}, not {expected}; read it again and repeat the edit"
        )


class WrongState(Conflict):
    """The record cannot go from its state to the one asked for."""

    def __init__(self, kind: str, key: str, state: str, wanted: str) -> None:
        self.kind = kind
        self.key = key
        self.state = state
        super().__init__(f"{kind} {key!r} is {state}; only {wanted}")


class StaleAttempt(Conflict):
    """The attempt is over, and what it has done since is not stored."""

    def __init__(self, execution: str, attempt: int, step: str) -> None:
        self.execution = execution
        self.attempt = attempt
        what = f"step {step!r}" if step else "the checkpoint"
        super().__init__(
            f"attempt {attempt} of execution {execution} is over, so {what} was not stored: its"
            " worker was declared lost, or it timed out; another attempt may be running"
        )
        self.step = step

    def __reduce__(self) -> tuple[object, ...]:
        """An isolated handler is told of it in its own process."""
        return StaleAttempt, (self.execution, self.attempt, self.step)


class AnswerTimeout(TickwellError, TimeoutError):
    """No answer arrived in time for what an execution waited for."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"no answer to {name!r} came in time")


class Unauthenticated(TickwellError):
    """No valid credentials; the message never says which part was wrong."""


#: Permissions, and the least role that has them.
_ROLES = {"read": "viewer", "operate": "operator", "edit": "editor", "administer": "admin"}


class Forbidden(TickwellError):
    """The actor's role does not allow the operation."""

    def __init__(self, permission: str, actor: str) -> None:
        self.permission = permission
        remedy = f"ask an admin for the role {_ROLES.get(permission, 'that has it')}"
        if permission == "platform":
            remedy = "log in as a platform admin; no API key has it"
        super().__init__(f"{actor} lacks the permission '{permission}'; {remedy}")


class LimitReached(TickwellError):
    """A limit of the project, the key or the address is reached."""

    def __init__(self, reason: str, *, retry_after: float | None = None, hint: str = "") -> None:
        #: Seconds until it is worth trying again; None: not by waiting.
        self.retry_after = retry_after
        super().__init__(f"{reason}. {hint}" if hint else reason)


class HandlerError(TickwellError):
    """A handler cannot be used."""


class UnknownHandler(HandlerError):
    """No handler of that name is registered in this process."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(
            f"no handler named {name!r} is registered here; import the module that declares it"
            " before the scheduler starts"
        )


class DuplicateHandler(HandlerError):
    """Two handlers claim one name."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"a handler named {name!r} is registered already; pass name='…' to one")


class StoreError(TickwellError):
    """The store failed."""


class StoreUnavailable(StoreError):
    """The store does not answer; the same call may be repeated later."""


class StoreFull(StoreError):
    """No space is left where the store writes; free some space, and work resumes by itself."""


class StoreRefused(StoreError):
    """The store answers but refuses: missing rights, read-only, a file of another program."""

    @classmethod
    def nothing_in(cls, where: str) -> StoreRefused:
        """There is no Tickwell store, and a command that only reads creates none."""
        return cls(
            f"no Tickwell store in {where}; name another --store, or create it: tickwell jobs"
            " add, tickwell serve or tickwell store migrate"
        )


class SchemaTooNew(StoreError):
    """The store was written by a newer Tickwell."""

    def __init__(self, where: str, found: int, known: int) -> None:
        self.found = found
        self.known = known
        super().__init__(
            f"{where} has schema {found}, this Tickwell knows {known}; upgrade Tickwell"
        )


class StoreCorrupt(StoreError):
    """The store's content contradicts itself; restore a backup."""


class StoreLost(StoreError):
    """What was in the store is gone: it was flushed, or exchanged for another, while we worked.

    Nothing is done until a person restores a backup, or restarts to continue with what is there.
    """


class BrokerUnavailable(TickwellError):
    """A broker cannot be reached, or did not answer in time."""


class NotRunning(TickwellError):
    """The scheduler is stopped, or was never started."""
