"""Options and files made into the document of a job."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tickwell.cli.options.job_options import JOB_OPTIONS
from tickwell.cli.options.times import read_time
from tickwell.errors import InvalidInput, InvalidJob, InvalidPayload

Document = dict[str, Any]

#: Bytes of a file that is read: more than the largest job has.
LARGEST = 4 * 1024 * 1024
#: Of a file with many jobs.
LARGEST_OF_MANY = 256 * 1024 * 1024
_TRIGGERS = {
    "cron": "--cron",
    "every": "--every",
    "when": "--when",
    "rrule": "--rrule",
    "at": "--at",
    "on_demand": "--on-demand",
}
_TARGETS = {"url": "--url", "call": "--call", "celery": "--celery"}
#: Options of one kind of target, the option that names the kind, and what it is called.
_OF_KIND = {
    "http": (("method", "header", "body", "sign_with"), "--url", "a webhook"),
    "celery": (("args", "kwargs", "celery_queue"), "--celery", "a Celery task"),
}
#: What a trigger has of its own; the rest of its fields fit any kind.
_OWN = {
    "cron",
    "every",
    "once",
    "on_demand",
    "calendar_every",
    "any_of",
    "all_of",
    "custom",
    "rrule",
    "dtstart",
    "exdates",
    "rdates",
    "when",
    "anchor",
    "after",
    "phase",
}
#: The option that names each kind of target.
_KIND_FLAGS = {"http": "url", "call": "call", "celery": "celery"}
_ZONED = {"tz", "dst_gap", "dst_fold", "dialect", "business_days"}


def read_file(name: str) -> Document:
    """The document in a file of JSON or TOML; "-" is JSON from standard input."""
    document = _parsed(name, read_text(name, "file"))
    if not isinstance(document, dict):
        raise InvalidInput(
            f"{name} does not contain exactly one job", field="file", hint="It is an object"
        )
    if "name" not in document and ("jobs" in document or "items" in document):
        hint = f"For several: tickwell jobs import {name}"
        raise InvalidInput(f"{name} does not contain exactly one job", field="file", hint=hint)
    return document


def read_jobs(name: str) -> list[Document]:
    """The jobs in a file: as `jobs export` writes it, a list of jobs, or one alone."""
    found = _parsed(name, read_text(name, "file", LARGEST_OF_MANY))
    if isinstance(found, dict):
        found = found.get("jobs", found.get("items", [found]))
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise InvalidInput(
            f"{name} contains no jobs", field="file", hint='For example {"jobs": [{"name": …}]}'
        )
    return found


def _parsed(name: str, text: str) -> Any:
    try:
        if name.endswith(".toml"):
            import tomllib

            # TOML has instants, dates and times of day; the document has them as text.
            text = json.dumps(tomllib.loads(text), default=lambda each: each.isoformat())
        return json.loads(text)
    except ValueError as error:
        kind = "TOML" if name.endswith(".toml") else "JSON"
        raise InvalidInput(
            f"{name} is not {kind}: {error}", field="file", hint="Files are .json or .toml"
        ) from None
    except RecursionError:
        raise InvalidInput(f"{name} is nested too deep", field="file") from None


def read_text(name: str, field: str, most: int = LARGEST) -> str:
    """The text of a file, or of standard input for "-"; what is too large is not read."""
    try:
        if name == "-":
            content = sys.stdin.buffer.read(most + 1)
        else:
            with Path(name).open("rb") as file:
                content = file.read(most + 1)
        text = content.decode()
    except OSError as error:
        reason = f"{name} cannot be read: {error.strerror}"
        raise InvalidInput(
            reason, field=field, hint="Name a file, or - for standard input"
        ) from None
    except UnicodeDecodeError:
        if len(content) <= most:
            raise InvalidInput(f"{name} is not UTF-8 text", field=field) from None
    if len(content) > most:
        raise InvalidPayload(
            f"{name} has more than {most} bytes",
            field=field,
            hint="Store it elsewhere and pass its address",
        )
    return text


def read_json(raw: str, field: str) -> Any:
    """JSON from an option, or from the file behind an @."""
    text = read_text(raw[1:], field) if raw.startswith("@") else raw
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        example = "[7]" if field == "args" else '{"to": 7}'
        raise InvalidPayload(
            f"{text[:40]!r} is not JSON",
            field=field,
            hint=f"For example --{field} '{example}'",
        ) from None


def is_given(value: Any) -> bool:
    """Whether the caller set an option: a repeatable one is an empty list otherwise."""
    return value is not None and value != [] and value is not False


def changed(document: Document, arguments: dict[str, Any], now: int) -> Document:
    """The document with what the options say; they win over what was there."""
    arguments = {name: value for name, value in arguments.items() if is_given(value)}
    _one_of(arguments, _TRIGGERS, "triggers")
    _one_of(arguments, _TARGETS, "targets")
    result: Document = json.loads(json.dumps(document))
    if arguments.keys() & _TRIGGERS.keys():
        drop = _OWN if "cron" in arguments else _OWN | _ZONED  # --when may name a zone
        if "rrule" in arguments:  # another rule begins where the former one did
            drop = (_OWN | {"dialect"}) - {"dtstart"}
        trigger = result.get("trigger") or {}
        result["trigger"] = {name: trigger[name] for name in trigger if name not in drop}
    if "url" in arguments and "http" not in result.get("target", {}):
        result["target"] = {"http": {}}
    if "call" in arguments:
        result["target"] = {"call": {}}
    if "celery" in arguments and "celery" not in result.get("target", {}):
        result["target"] = {"celery": {}}
    if "body" in arguments and isinstance(http := result.get("target", {}).get("http"), dict):
        for former in ("json", "text", "body"):
            http.pop(former, None)
    for each in JOB_OPTIONS:
        if each.name in arguments:
            _put(result, each.path, _value(each.name, arguments, now))
    _settle(result, arguments)
    return result


def _one_of(arguments: dict[str, Any], flags: dict[str, str], noun: str) -> None:
    found = [flag for name, flag in flags.items() if name in arguments]
    if len(found) > 1:
        raise InvalidInput(
            f"{' and '.join(found)} are {len(found)} {noun}", field=noun[:-1], hint="Give one"
        )


def _value(name: str, arguments: dict[str, Any], now: int) -> Any:
    value, tz = arguments[name], arguments.get("tz")
    match name:
        case "at":
            value = _time(value, name, now, tz)
        case "start" | "until":
            value = _time(value, name, now, tz or "UTC")
        case "payload" | "args" | "kwargs":
            value = read_json(value, name)
        case "body":
            value = _body(value)
        case "header":
            value = dict(_header(each) for each in value)
        case "concurrency":
            value = _concurrency(value)
        case "after_finish":
            value = "finish"
    return value


def _time(text: str, field: str, now: int, tz: str | None) -> str:
    from tickwell.services.documents import instant_text

    return instant_text(read_time(text, field, now, tz=tz, ahead=True))


def _body(raw: str) -> Any:
    """An object or a list of JSON is sent as JSON, everything else as the text it is."""
    text = read_text(raw[1:], "body") if raw.startswith("@") else raw
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict | list) else text


def _header(raw: str) -> tuple[str, str]:
    name, colon, value = raw.partition(":")
    if not colon or not name.strip():
        raise InvalidJob(
            f"{raw[:40]!r} is not NAME: VALUE", field="header", hint="As 'X-Team: billing'"
        )
    return name.strip(" "), value.strip(" ")


def _concurrency(raw: str) -> Document:
    key, equals, limit = raw.rpartition("=")
    if not equals or not key or not limit.isdecimal():
        raise InvalidJob(f"{raw[:40]!r} is not KEY=N", field="concurrency", hint="As reports=2")
    return {"key": key, "limit": int(limit)}


def _put(document: Document, path: str, value: Any) -> None:
    *parents, name = path.split(".")
    for parent in parents:
        inner = document.get(parent)
        if not isinstance(inner, dict):
            inner = document[parent] = {}
        document = inner
    document[name] = value


def _settle(document: Document, arguments: dict[str, Any]) -> None:
    """What one option means beside another."""
    trigger, target = document.get("trigger"), document.get("target")
    if isinstance(trigger, dict):
        _settle_zone(trigger, arguments)
    if isinstance(target, dict) and len(target) > 1:
        if "timeout" in arguments and "http" in target:  # of all but webhooks it is the job's
            document["timeout"] = {"hard": arguments["timeout"]}
            target["http"].pop("timeout")
        _settle_target(target, arguments)


def _settle_target(target: Document, arguments: dict[str, Any]) -> None:
    """Refuse options of another kind of target than the job has."""
    named = next(
        (kind for kind, flag in _KIND_FLAGS.items() if flag in arguments), next(iter(target))
    )
    for kind in target.keys() - {named}:
        options, flag, words = _OF_KIND[kind]
        wrong = next((each for each in options if each in arguments), None)
        if wrong is not None:
            raise InvalidInput(
                f"--{wrong.replace('_', '-')} belongs to {words}",
                field=wrong,
                hint=f"Give {flag} instead of {_TARGETS[_KIND_FLAGS[named]]}",
            )
        del target[kind]


def _settle_zone(trigger: Document, arguments: dict[str, Any]) -> None:
    """A zone is a trigger's own, or was there to read the times of options by."""
    if trigger.keys() & {"cron", "calendar_every", "when", "rrule"}:
        return
    if "once" in trigger or ("tz" in arguments and arguments.keys() & {"start", "until"}):
        trigger.pop("tz", None)  # said in the instants already
    elif "tz" in arguments:
        raise InvalidInput(
            "--tz belongs to --cron, --when or --rrule, or to a time in --at, --start or --until",
            field="tz",
            hint="Leave it out",
        )
