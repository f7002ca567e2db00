"""`tickwell config`: which settings are in force, and why."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from typing import Any

from tickwell.cli.command import Json, Store, group
from tickwell.cli.screen import Screen

app = group("config", "See the settings in force.")


@app.callback()
def config() -> None:
    """See the settings in force."""


@app.command()
def show(*, store: Store = None, as_json: Json = False) -> None:
    """List every setting with its value and where it came from."""
    from tickwell.cli.configuration import configure

    found, screen = configure(store), Screen()
    items: list[dict[str, Any]] = [
        {
            "name": field.name,
            "value": _shown(getattr(found.settings, field.name)),
            "from": found.origins.get(field.name, "default"),
        }
        for field in fields(found.settings)
    ]
    if as_json:
        screen.json({"items": items})
        return
    rows = [(each["name"], json.dumps(each["value"]), each["from"]) for each in items]
    screen.table(("SETTING", "VALUE", "FROM"), rows, soft=("VALUE",))


def _shown(value: Any) -> Any:
    """A password in a URL is nobody's business."""
    if isinstance(value, str):
        return re.sub(r"(://[^/@:]*):[^/@]*@", r"\1:…@", value)
    return list(value) if isinstance(value, tuple) else value
