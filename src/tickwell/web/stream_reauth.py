"""Who listens to a stream is asked again who they are, while it lasts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tickwell.errors import StoreError, TickwellError
from tickwell.services.access.actor import Actor
from tickwell.services.access.permission import Permission

#: Who asks now, or why nobody is believed to.
Ask = Callable[[], Awaitable[Actor]]


async def may_listen(ask: Ask, actor: Actor) -> bool:
    """Whether whoever began to listen as this actor may hear more of the project."""
    try:
        asked = await ask()
    except StoreError:
        return True  # nobody was asked; the store has nothing to tell either
    except TickwellError:
        return False
    return asked.project == actor.project and Permission.READ in asked.permissions
