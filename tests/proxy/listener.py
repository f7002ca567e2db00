"""How a server of asyncio stops listening and leaves no socket open."""

import asyncio


async def rounds() -> None:
    """Let the loop finish what it has begun."""
    for _ in range(5):
        await asyncio.sleep(0)


async def stop_listening(server: asyncio.Server) -> None:
    """Close it when everybody whom it has let in has a transport.

    Until Python 3.12, a connection that it had accepted but not yet given to a transport stayed
    open until the garbage collector came by, which warned of it in whatever test ran then.
    """
    loop = asyncio.get_running_loop()
    for listener in server.sockets:
        loop.remove_reader(listener.fileno())
    await rounds()
    server.close()
