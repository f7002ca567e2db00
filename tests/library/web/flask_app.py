"""A Flask application; gunicorn starts its scheduler in every worker (see gunicorn_hooks)."""

from flask import Flask

from tests.library.web.jobs import ask, ask_async

app = Flask(__name__)


@app.get("/sync/<int:number>")
def sync_view(number):
    return ask(number)


@app.get("/async/<int:number>")
async def async_view(number):
    return await ask_async(number)
