"""An operation: one use case, declared once, for every face that offers it.

A declaration names method, path, permission, audit entry, schemas and handler. The REST route, the
OpenAPI document, the methods of the clients and the calls of the command line all come from it.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar, get_type_hints

from tickwell.clock import Clock
from tickwell.errors import NotRunning
from tickwell.services.access.actor import Actor, Permission
from tickwell.services.cursor_seal import CursorSeal
from tickwell.services.operations import Operations
from tickwell.services.operations.schema import Input, Output

if TYPE_CHECKING:  # most commands administer nothing
    from tickwell.services.admin.admin import AdminServices

T = TypeVar("T")
Document = dict[str, Any]


class Services(Protocol):
    """What handlers work with, in a server or in a command."""

    operations: Operations
    clock: Clock
    cursors: CursorSeal
    admin: AdminServices | None


@dataclass(slots=True, kw_only=True)
class Call:
    """One call of an operation, however it was made."""

    services: Services
    actor: Actor
    #: The whole body, for a handler that reads it by itself.
    document: Any = None
    #: The version of the job that the caller read; None: any.
    version: int | None = None
    idempotency_key: str | None = None
    #: An earlier call with the same key began, and its end is unknown.
    sent_again: bool = False
    #: The body may be flat, as older schedulers had it.
    flat: bool = False
    #: Where people reach the dashboard, for links to it.
    origin: Callable[[], str] = str

    @property
    def use(self) -> Operations:
        """The use cases."""
        return self.services.operations

    @property
    def admin(self) -> AdminServices:
        """Users, projects, keys and secrets, if this process administers them."""
        found = self.services.admin
        if found is None:
            raise NotRunning(
                "this process has no user management; it was started without authentication"
            )
        return found

    def open_cursor(self, cursor: str | None, *scope: Any) -> str | None:
        """The store's cursor that a caller sent back."""
        return self.services.cursors.open(cursor, *scope)

    def seal_cursor(self, cursor: str | None, *scope: Any) -> str | None:
        """A store's cursor as a caller receives it."""
        return self.services.cursors.seal(cursor, *scope)


@dataclass(slots=True)
class Answer:
    """What a handler answers."""

    document: Any
    #: None: that of the operation.
    status: int | None = None
    #: The version of the job that is answered.
    version: int | None = None
    #: Where a new record is found, below the root of the API.
    location: str | None = None
    #: An earlier call with the same idempotency key did it.
    replayed: bool = False


@dataclass(slots=True)
class Many:
    """A document with many items that are much alike, which a face may write faster together."""

    items: Sequence[Any]
    write: Callable[[Any], Document]
    more: Document

    def document(self) -> Document:
        """The plain document."""
        return {"items": [self.write(each) for each in self.items], **self.more}


Handler = Callable[..., Coroutine[Any, Any, Any]]
H = TypeVar("H", bound=Handler)


@dataclass(frozen=True, kw_only=True)
class Operation:
    """A declared use case."""

    id: str
    #: What it is about, in OpenAPI.
    tag: str
    method: str
    path: str
    #: None: anybody may call it.
    permission: Permission | None
    answer: type[Output]
    handler: Handler
    status: int = 200
    #: The action of its one entry in the audit log; empty: it writes none.
    audit: str = ""
    #: The schema of a body that the handler reads by itself.
    whole_body: type[Input] | None = None
    example: Any = None
    #: None: `If-Match` has no meaning, False: optional, True: required.
    if_match: bool | None = None
    #: The answer holds a secret: it is stored nowhere, and cannot be replayed.
    one_time: bool = False
    #: Refused with an API key or a token.
    session_only: bool = False
    #: A POST that changes nothing.
    reads: bool = False
    #: The body may hold many records.
    is_large: bool = False
    #: Not below `/api/v1`.
    at_root: bool = False
    body_type: str = "application/json"
    body_required: bool = True
    #: Optional arguments of clients that may be given by position.
    positional: Sequence[str] = ()
    #: The argument of clients that is the whole body.
    argument: str = ""
    #: Whether programs call it: not what only a browser or a scraper does.
    in_clients: bool = True
    #: Needs users, projects, keys or secrets.
    administers: bool = False

    @cached_property
    def _hints(self) -> dict[str, Any]:
        return get_type_hints(self.handler)

    @cached_property
    def body(self) -> type[Input] | None:
        """The schema of its body; None: it takes none."""
        return self.whole_body or self._hints.get("body")

    @cached_property
    def query(self) -> type[Input] | None:
        """The schema of its query parameters."""
        return self._hints.get("query")

    @cached_property
    def reads_body(self) -> bool:
        """Whether the handler takes the body as a record."""
        return "body" in self._hints

    @cached_property
    def path_names(self) -> Sequence[str]:
        """The parameters in its path."""
        parts = self.path.split("/")
        return tuple(part[1:-1] for part in parts if part.startswith("{"))

    @property
    def takes_body(self) -> bool:
        """Whether its method has a body."""
        return self.method in {"POST", "PUT", "PATCH"}

    @property
    def takes_key(self) -> bool:
        """Whether it takes an `Idempotency-Key`."""
        return self.method == "POST" and self.permission is not None and not self.one_time

    @property
    def about(self) -> str:
        """What it does, in words."""
        return (self.handler.__doc__ or "").replace("\n    ", "\n").strip()


@dataclass(frozen=True, slots=True)
class Group:
    """The operations about one noun."""

    #: What is declared.
    kind: ClassVar[type[Operation]] = Operation

    tag: str
    operations: list[Operation] = field(default_factory=list)

    def get(
        self, path: str, permission: Permission | None, answer: type[Output], **more: Any
    ) -> Callable[[H], H]:
        """Declare an operation that reads."""
        return self._declare("GET", path, permission, answer, more)

    def post(
        self, path: str, permission: Permission | None, answer: type[Output], **more: Any
    ) -> Callable[[H], H]:
        """Declare an operation that acts."""
        return self._declare("POST", path, permission, answer, more)

    def put(
        self, path: str, permission: Permission | None, answer: type[Output], **more: Any
    ) -> Callable[[H], H]:
        """Declare an operation that sets a record."""
        return self._declare("PUT", path, permission, answer, more)

    def patch(
        self, path: str, permission: Permission | None, answer: type[Output], **more: Any
    ) -> Callable[[H], H]:
        """Declare an operation that changes part of a record."""
        return self._declare("PATCH", path, permission, answer, more)

    def delete(
        self, path: str, permission: Permission | None, answer: type[Output], **more: Any
    ) -> Callable[[H], H]:
        """Declare an operation that removes a record."""
        return self._declare("DELETE", path, permission, answer, more)

    def _declare(
        self,
        method: str,
        path: str,
        permission: Permission | None,
        answer: type[Output],
        more: dict[str, Any],
    ) -> Callable[[H], H]:
        def declare(handler: H) -> H:
            made = self.kind(
                id=handler.__name__,
                tag=self.tag,
                method=method,
                path=path,
                permission=permission,
                answer=answer,
                handler=handler,
                **more,
            )
            taken = [name for name in signature(handler).parameters if name in made.path_names]
            if sorted(taken) != sorted(made.path_names):
                raise TypeError(f"{made.id} does not take {made.path_names}")
            self.operations.append(made)
            return handler

        return declare


async def run(operation: Operation, call: Call, path: dict[str, str], query: Any) -> Answer:
    """Call the handler with what the operation takes; the body is read last."""
    arguments: dict[str, Any] = dict(path)
    if operation.query is not None:
        arguments["query"] = query
    if operation.reads_body and operation.body is not None:
        arguments["body"] = operation.body.read({} if call.document is None else call.document)
    elif operation.takes_body and operation.body is None and call.document is not None:
        NoBody.read(call.document)
    answer = await operation.handler(call, **arguments)
    if not isinstance(answer, Answer):
        answer = Answer(answer)
    return answer


class NoBody(Input):
    """Nothing."""
