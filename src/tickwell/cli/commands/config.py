"""`tickwell config`: which settings are in force, and why."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from typing import Any

from tickwell.cli.command import ApiKey, Json, Server, Store, group
from tickwell.cli.output.screen import Screen
from tickwell.domain.seconds import Seconds

app = group("config", "Show the settings in force.")


@app.callback()
def config() -> None:
    """Show the settings in force."""


@app.command()
def show(
    *,
    store: Store = None,
    server: Server = None,
    api_key: ApiKey = None,
    as_json: Json = False,
) -> None:
    """List every setting with its value and source, without secrets."""
    from tickwell.cli.config.configuration import REMOTE, configure

    found, screen = configure(store, server=server, key=api_key), Screen()
    remote = {"server": found.server, "key": "…" if found.key else ""}
    values = {each.name: getattr(found.settings, each.name) for each in fields(found.settings)}
    items: list[dict[str, Any]] = [
        {"name": name, "value": _shown(value), "from": found.origins.get(name, "default")}
        for name, value in (values | {name: remote[name] for name in REMOTE}).items()
    ]
    if as_json:
        screen.json({"items": items})
        return
    rows = [
        (each["name"], json.dumps(each["value"], ensure_ascii=False), each["from"])
        for each in items
    ]
    screen.table(("SETTING", "VALUE", "FROM"), rows, soft=("VALUE",))


def _shown(value: Any) -> Any:
    """A password in a URL is nobody's business."""
    if isinstance(value, str):
        hidden = re.sub(r"(://[^/@:?#\s]*):\S*@", r"\1:…@", value)
        return re.sub(r"(?i)((?:password|secret|token)=)[^&\s]+", r"\1…", hidden)
    if isinstance(value, Seconds):
        return str(value)
    return [_shown(each) for each in value] if isinstance(value, tuple) else value
