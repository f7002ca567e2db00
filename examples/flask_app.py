"""A Flask application with its scheduler: sync and async views, and jobs in the same process.

In production: gunicorn with `scheduler.start_in_background()` in `post_fork`. Run as a script, this
asks the application what a browser would; `pip install 'flask[async]'` for that.

It prints:
    202 ACCEPTED
    resized cat.jpg
    welcome mail to user 7
    2 runs succeeded
"""

from typing import Any

from flask import Flask

from tickwell import Scheduler, State

scheduler = Scheduler("sqlite:///flask_app.db", app="gallery")
app = Flask(__name__)


@scheduler.job()
def resize(picture: str) -> None:
    """A plain function runs in a thread."""
    print(f"resized {picture}")


@scheduler.job()
async def send_welcome(user_id: int) -> None:
    """An async function runs in the scheduler's event loop."""
    print(f"welcome mail to user {user_id}")


@app.post("/pictures/<picture>")
def upload(picture: str) -> tuple[dict[str, Any], int]:
    """A sync view waits until the run is recorded."""
    return {"run": resize.blocking.trigger(picture).id}, 202


@app.post("/users/<int:user_id>")
async def register(user_id: int) -> tuple[dict[str, Any], int]:
    """An async view awaits it, in the event loop that Flask creates for the request."""
    return {"run": (await send_welcome.trigger(user_id)).id}, 202


def main() -> None:
    """Simulate the server and the browser."""
    scheduler.start_in_background()
    browser = app.test_client()
    states = []
    for path in ("/pictures/cat.jpg", "/users/7"):
        answer = browser.post(path)
        print(answer.status)
        states.append(scheduler.blocking.wait(answer.get_json()["run"]).state)
    print(f"{states.count(State.SUCCEEDED)} runs succeeded")


if __name__ == "__main__":
    main()
