"""A program without an event loop: a script, a Flask or Django application, any WSGI server.

The engine runs in a thread of its own and drains when the program ends. In Flask, call
`scheduler.start_in_background()` where the application is made; under gunicorn, in `post_fork`.

It prints:
    202 Accepted
    resized cat.jpg
    the run succeeded: 3 sizes
"""

import threading
from collections.abc import Callable, Iterable
from wsgiref.util import setup_testing_defaults

from tickwell import Every, Run, Scheduler

scheduler = Scheduler("sqlite:///without_a_loop.db", app="gallery")
done = threading.Event()


@scheduler.job()
def resize(run: Run, picture: str, sizes: int = 3) -> str:
    """A plain function runs in a thread; its progress is visible to other processes."""
    for number in range(sizes):
        run.progress((number + 1) / sizes, f"size {number + 1}")
    print(f"resized {picture}")
    return f"{sizes} sizes"


@scheduler.job(Every("1h"))
def clean_up() -> None:
    """Every hour."""


@scheduler.on("idle")
def rest() -> None:
    """Called when there is nothing to do."""
    done.set()


def application(
    environ: dict[str, object], start_response: Callable[..., object]
) -> Iterable[bytes]:
    """The web application: triggers a run without waiting for it."""
    execution = resize.blocking.trigger(str(environ["PATH_INFO"]).strip("/"))
    start_response("202 Accepted", [("Content-Type", "text/plain")])
    return [execution.id.encode()]


def main() -> None:
    """Start the engine in the background, and simulate a web server."""
    scheduler.start_in_background()
    done.wait(60)
    done.clear()
    request: dict[str, object] = {"PATH_INFO": "/cat.jpg"}
    setup_testing_defaults(request)
    (answer,) = application(request, lambda status, _headers: print(status))
    done.wait(60)
    execution = scheduler.blocking.get_execution(answer.decode())
    print(f"the run {execution.state}: {execution.result}")


if __name__ == "__main__":
    main()
