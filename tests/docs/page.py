"""Runs the Python of one page, block after block, as one script in which `await` is allowed.

`python -m tests.docs.page PATH`. A block that ends with `scheduler.run()` is run up to there, and
then the scheduler until it is told to stop; it says when it has started.
"""

import ast
import asyncio
import builtins
import inspect
import sys
import types
from pathlib import Path
from typing import Any

from tests.docs.pages import blocks


def runs(text: str) -> bool:
    """Whether the page starts a scheduler that goes on until it is told to stop."""
    return any("scheduler.run()" in block for block in blocks(text, "python"))


async def run(text: str, names: dict[str, Any]) -> None:
    for block in blocks(text, "python"):
        code = compile(block, "page", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        # As a module would: handlers are looked at by their annotations.
        result = types.FunctionType(code, names)()
        if inspect.iscoroutine(result):
            await result


def main() -> None:
    text = Path(sys.argv[1]).read_text("utf-8")
    # Formatting a time imports, by the globals of the code that asks for it.
    names: dict[str, Any] = {"__name__": "page", "__builtins__": builtins}
    asyncio.run(run(text, names))
    if runs(text):
        names["scheduler"].subscribe(lambda event: print(type(event).__name__, flush=True))  # noqa: T201
        names["scheduler"].run()


if __name__ == "__main__":
    main()
