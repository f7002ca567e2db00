"""Documents as people read them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from tickwell.cli.options.times import say_count, say_distance, say_time, say_took
from tickwell.cli.output.screen import Screen
from tickwell.cli.output.text import one_line, safe

if TYPE_CHECKING:
    from tickwell.domain.trigger import Trigger


Document = Mapping[str, Any]


def show_responses(screen: Screen, attempts: Iterable[Document]) -> None:
    """The responses to the webhooks of one execution; a pipe gets each as one line of JSON."""
    for attempt in attempts:
        response = attempt.get("response")
        if not response:
            continue
        if not screen.is_terminal:
            text = json.dumps(response, ensure_ascii=False)
            screen.data(f"response\t{attempt['number']}\t{one_line(text)}")
            continue
        screen.heading(f"Response to attempt {attempt['number']}")
        more = ", and more that was not read" if response.get("cut") else ""
        headers = response.get("headers", {}).items()
        screen.record(
            [
                ("status", str(response["status"])),
                ("size", f"{response['bytes']:,} bytes{more}"),
                *((safe(name.lower()), value) for name, value in headers),
                ("body", response["body"]),
            ]
        )


def show_logs(screen: Screen, logs: Iterable[Document]) -> None:
    """What the attempts of one execution printed and logged."""
    for log in logs:
        screen.heading(f"Log of attempt {log['attempt']}")
        head = "" if screen.is_terminal else f"log\t{log['attempt']}\t"
        for line in log_lines(log):
            screen.data(head + safe(line))


def log_lines(log: Document, seen: int = 0) -> list[str]:
    """Lines of an attempt, after a line that counts those dropped unseen."""
    gone = log["first"] - seen
    if gone <= 0:
        return [*log["lines"]]
    words = "1 earlier line was" if gone == 1 else f"{gone:,} earlier lines were"
    return [f"… {words} dropped", *log["lines"]]


def show_steps(screen: Screen, steps: Sequence[Document], checkpoint: Document | None) -> None:
    """What an execution has done and does not do again, and how far it says it is."""
    if steps:
        screen.heading("Steps")
        rows = [(safe(one["name"]), str(one["attempt"]), _short(one["value"])) for one in steps]
        screen.table(("STEP", "ATTEMPT", "RESULT"), rows, soft=("RESULT",))
    if checkpoint is not None:
        screen.heading("Checkpoint")
        screen.record(
            [("attempt", str(checkpoint["attempt"])), ("value", _short(checkpoint["value"]))]
        )


def _short(value: Any) -> str:
    return safe(one_line(json.dumps(value, ensure_ascii=False)))


def show_waits(screen: Screen, waits: Sequence[Document], when: Callable[[Any], str]) -> None:
    """What an execution waits or waited for from outside."""
    if not waits:
        return
    screen.heading("Waits for")
    rows = [
        (
            safe(one["name"]),
            one["state"],
            when(one["expires_at"]),
            _short(one["answer"]) if one["state"] == "answered" else "",
        )
        for one in waits
    ]
    screen.table(("NAME", "STATE", "EXPIRES", "ANSWER"), rows, soft=("ANSWER",))


#: An execution may still be waiting, or have died: its state says so.
_WORDS = {"executed": "has an execution"}


def show_slots(screen: Screen, page: Mapping[str, Any]) -> None:
    """Every fire time with its answer; where that is an execution, a person reads its state."""
    headings: tuple[str, ...] = ("FIRE TIME", "ANSWER", "EXECUTION", "REASON")
    rows: list[tuple[str, ...]] = [
        (
            say_time(slot["fire_time"]),
            slot["state"] or slot["answer"],
            slot["execution_id"] or "",
            _why(slot),
        )
        for slot in page["items"]
    ]
    if not screen.is_terminal:
        headings = ("FIRE TIME", "ANSWER", "STATE", "REASON", "EXECUTION")
        rows = [
            (
                slot["fire_time"],
                _WORDS.get(slot["answer"], slot["answer"]),
                slot["state"] or "",
                _why(slot),
                slot["execution_id"] or "",
            )
            for slot in page["items"]
        ]
    screen.table(headings, rows, soft=("REASON",), below=True)
    screen.say(_sum(page["items"]))
    if page["next"]:
        screen.say(f"More: repeat with --since {page['next']}")


def _why(slot: Mapping[str, Any]) -> str:
    """The reason, and of a person's skip by whom and why."""
    by = f" ({slot['by']})" if slot["by"] else ""
    why = f": {slot['why']}" if slot["why"] else ""
    return f"{slot['reason'] or ''}{by}{why}"


def _sum(slots: list[Mapping[str, Any]]) -> str:
    if not slots:
        return "No fire time in this range. Choose another: --since 7d --until +1d"
    answers = Counter(slot["answer"] for slot in slots)
    words = _WORDS | {"executed": "with an execution"}
    counts = ", ".join(
        f"{count} {words.get(answer, answer)}" for answer, count in answers.most_common()
    )
    return f"{say_count(len(slots), 'fire time')}: {counts}."


def show_fires(
    screen: Screen, fires: Iterable[str], tz: str, now: int, skipped: Collection[str] = ()
) -> None:
    """One line each; the zone's own time with its offset, so that a change of clocks is seen."""
    from zoneinfo import ZoneInfo

    from tickwell.domain.cron import check_zone

    zone = ZoneInfo(check_zone(tz))
    rows = []
    for fire in fires:
        local = datetime.fromisoformat(fire).astimezone(zone)
        here = f"{local:%a %Y-%m-%d %H:%M:%S %z}" if screen.is_terminal else local.isoformat()
        utc = say_time(fire) if screen.is_terminal else fire
        row: tuple[str, ...] = (utc, say_distance(fire, now)) if screen.is_terminal else (utc,)
        if skipped:
            row = (*row, "skipped" if fire in skipped else "")
        rows.append(row if tz == "UTC" else (here, *row))
    headings: tuple[str, ...] = ("UTC", "") if screen.is_terminal else ("UTC",)
    if skipped:
        headings = (*headings, "ANSWER")
    screen.table(headings if tz == "UTC" else (tz, *headings), rows, soft=())


def show_jobs(screen: Screen, jobs: Iterable[Document], now: int) -> None:
    """Many jobs, one line each."""
    screen.table(
        ("NAME", "STATE", "NEXT FIRE", "SCHEDULE", "TARGET"),
        [
            (
                job["name"],
                job["state"],
                fires(screen, job["next_fire_time"], now),
                schedule(job),
                target(job),
            )
            for job in jobs
        ],
        soft=("NAME", "SCHEDULE", "TARGET"),
    )


def show_job(screen: Screen, job: Document, fires: Iterable[str], now: int) -> None:
    """One job in full."""
    screen.record(_job_lines(screen, job, now))
    upcoming = list(fires)
    if upcoming:
        screen.heading("Next fire times, UTC")
        for fire in upcoming:
            if screen.is_terminal:
                screen.data(f"{say_time(fire)}  {say_distance(fire, now)}")
            else:
                screen.data(f"next\t{fire}")


def _job_lines(screen: Screen, job: Document, now: int) -> Iterator[tuple[str, str]]:
    yield "name", job["name"]
    yield "id", job["id"]
    yield "state", job["state"]
    if pause := job["pause"]:
        until = f" until {_when(screen, pause['until'], now)}" if pause["until"] else ""
        why = f": {pause['why']}" if pause["why"] else ""
        yield "paused", f"by {pause['by']}, {_when(screen, pause['since'], now)}{until}{why}"
    yield "schedule", schedule(job)
    for warning in warnings(job):
        yield "note", warning
    yield "target", target(job)
    yield "description", job.get("description", "")
    yield "tags", ", ".join(job.get("tags", ()))
    yield "project", job["project"]
    yield "queue", job["queue"]
    for name in _POLICIES:
        if name in job:
            yield name.replace("_", " "), _say(job[name])
    yield "declared by", _declared(job)
    yield "version", f"{job['version']}, saved {_when(screen, job['saved_at'], now)}"
    yield "created", _when(screen, job["created_at"], now)
    cursor = job["cursor"]
    failures = f", {cursor['failures']} deaths in a row" if cursor["failures"] else ""
    yield "fires so far", f"{cursor['runs']}{failures}"


def _declared(job: Document) -> str:
    """Whose code declares the job, and whether that or an edit is in force."""
    if not job.get("app"):
        return ""
    in_force = "edited; the edit applies until the code changes again"
    return f"{job['app']}, in code; {in_force if job.get('edited') else 'the code applies'}"


_POLICIES = (
    *("priority", "payload", "retry", "misfire", "overlap", "concurrency", "rate"),
    *("rate_key", "only_if", "check_in", "unless", "unique_key", "debounce", "debounce_max"),
    *("delivery", "timeout"),
    *("expires", "pause_after", "auto_remove", "dedupe_key", "retention"),
)


def show_executions(screen: Screen, executions: Iterable[Document], now: int) -> None:
    """Executions of any job, one line each; when it fired is said in few letters."""
    rows = [
        (
            each["id"],
            each["job_name"] or each["job_id"],
            each["state"],
            soon(screen, each["fire_time"], now),
            str(each["attempt"]),
            _losses(each),
            note(each),
        )
        for each in executions
    ]
    headings = ("ID", "JOB", "STATE", "FIRED", "TRIES", "LOST", "NOTE")
    screen.table(headings, rows, soft=("JOB", "NOTE"), below=True)


def show_history(screen: Screen, executions: Iterable[Document]) -> None:
    """Executions of one job, one line each."""
    rows = [
        (
            _second(screen, each["fire_time"]),
            each["state"],
            str(each["attempt"]),
            _losses(each),
            say_took(each["started_at"], each["ended_at"]),
            each["id"],
            note(each),
        )
        for each in executions
    ]
    headings = ("FIRE TIME", "STATE", "TRIES", "LOST", "TOOK", "ID", "NOTE")
    screen.table(headings, rows, soft=("NOTE",), below=True)


def show_execution(screen: Screen, execution: Document, now: int, *, logs: bool = True) -> None:
    """One execution in full, with its attempts and what they printed."""
    each = execution
    screen.record(
        [
            ("id", each["id"]),
            ("job", f"{each['job_name'] or each['job_id']} (version {each['job_version']})"),
            ("state", each["state"]),
            ("reason", _reason(each)),
            ("kind", each["kind"]),
            ("fire time", _when(screen, each["fire_time"], now)),
            ("runs at", _when(screen, each["run_at"], now) if not each["ended_at"] else ""),
            ("started", _when(screen, each["started_at"], now)),
            ("ended", _when(screen, each["ended_at"], now)),
            ("took", say_took(each["started_at"], each["ended_at"])),
            ("elapsed", _elapsed(each, now)),
            ("asked to stop", _when(screen, each.get("soft_deadline"), now)),
            ("ends by", _when(screen, each.get("hard_deadline"), now)),
            ("progress", _progress(each.get("progress"))),
            ("attempts", f"{each['attempt']} ({each['charged']} charged)"),
            ("losses", f"{each['lost']} charged" if each["lost"] else ""),
            ("queue", each["queue"]),
            ("worker", each["worker"] or ""),
            ("key", each["key"] or ""),
            ("payload", "" if each["payload"] is None else _say(each["payload"])),
            ("result", "" if _is_shown_below(screen, each) else _say(each["result"])),
            ("error", each["error"] or ""),
            ("repeats", each["revived_from"] or ""),
        ]
    )
    if each["attempts"]:
        screen.heading("Attempts")
        show_attempts(screen, each["attempts"])
        show_responses(screen, each["attempts"])
    show_steps(screen, each.get("steps") or (), each.get("checkpoint"))
    show_waits(screen, each.get("waits") or (), lambda at: _when(screen, at, now))
    if logs:
        show_logs(screen, each.get("logs", ()))


def _is_shown_below(screen: Screen, execution: Document) -> bool:
    """Whether there is no result, or it is the response that stands with its attempt."""
    answered = any(attempt.get("response") for attempt in execution["attempts"])
    return execution["result"] is None or (screen.is_terminal and answered)


def _elapsed(execution: Document, now: int) -> str:
    if execution["state"] != "running" or execution["started_at"] is None:
        return ""
    return say_distance(execution["started_at"], now).removesuffix(" ago")


def _progress(progress: Document | None) -> str:
    if progress is None:
        return ""
    message = f": {progress['message']}" if progress["message"] else ""
    return f"{progress['fraction']:.0%}{message}"


def _losses(execution: Document) -> str:
    """Losses that count against `retry.max_losses`, if there are any."""
    return str(execution["lost"] or "")


def show_attempts(screen: Screen, attempts: Iterable[Document]) -> None:
    """The tries of one execution, oldest first."""
    rows = [
        (
            str(each["number"]),
            each["outcome"],
            _exact(screen, each["ended_at"]),
            say_took(each["started_at"], each["ended_at"]),
            each["worker"] or "",
            say_error(each["error"]),
        )
        for each in attempts
    ]
    headings = ("TRY", "OUTCOME", "ENDED", "TOOK", "WORKER", "ERROR")
    screen.table(headings, rows, soft=("ERROR", "WORKER"), below=True)


def schedule(job: Document) -> str:
    """A trigger in words."""
    return _trigger(job).explain()


def warnings(job: Document) -> list[str]:
    """What may surprise the author of the job: its trigger, a handler that no worker has."""
    from tickwell.clock import wall_millis

    return [*_trigger(job).warnings(wall_millis()), *job.get("warnings", ())]


def _trigger(job: Document) -> Trigger:
    from tickwell.domain.trigger import trigger_from_document

    return trigger_from_document(job["trigger"])


def target(job: Document) -> str:
    """What is called."""
    ((kind, inner),) = job["target"].items()
    if kind == "http":
        return f"{inner.get('method', 'POST')} {inner['url']}"
    if kind == "celery":
        queue = f" on {inner['queue']}" if "queue" in inner else ""
        return f"celery {inner['task']}{queue}"
    return f"{kind} {inner.get('handler', '')}".strip()


def note(execution: Document) -> str:
    """Why it stands as it does, in a few words."""
    from tickwell.domain.celery import is_sent
    from tickwell.domain.explanation import GAVE_UP

    if is_sent(execution["ability"], execution.get("result")):
        return "sent; result not awaited"
    if execution["state"] in {"succeeded", "running"}:
        return ""
    reason = execution["reason"] or ""
    if reason.startswith(GAVE_UP):
        return str(reason)  # says more than the error that it was raised as
    return waiting_for(execution) or say_error(execution["error"]) or reason


def _reason(execution: Document) -> str:
    """Why it stands as it does, in full."""
    from tickwell.domain.execution import State
    from tickwell.domain.explanation import explanation_of

    return explanation_of(State(execution["state"]), execution["reason"], execution["error"])


def waiting_for(execution: Document) -> str:
    """What a pending execution waits for, where that is on record."""
    from tickwell.domain.execution import State
    from tickwell.domain.explanation import WAITS_BECAUSE, reason_of

    reason = reason_of(State(execution["state"]), execution["reason"])
    return "" if reason is None else WAITS_BECAUSE.get(reason, "")


def say_roles(process: Document) -> str:
    """What a process does; one without a role supervises worker processes."""
    return ",".join(process["roles"]) or "supervisor"


def say_error(error: str | None) -> str:
    """What went wrong, in one line."""
    from tickwell.log.headline import headline

    return headline(error) if error else ""


def _exact(screen: Screen, text: str | None) -> str:
    return say_time(text) if screen.is_terminal else text or ""


def _second(screen: Screen, text: str) -> str:
    return _exact(screen, text).partition(".")[0] if screen.is_terminal else text


def soon(screen: Screen, text: str | None, now: int) -> str:
    """In few letters where columns are dear."""
    return say_distance(text, now) if screen.is_terminal else text or ""


def fires(screen: Screen, text: str | None, now: int) -> str:
    """A fire time to come; one in the past was not planned."""
    shown = soon(screen, text, now)
    return f"overdue for {shown.removesuffix(' ago')}" if shown.endswith(" ago") else shown


def _when(screen: Screen, text: str | None, now: int) -> str:
    if not screen.is_terminal or text is None:
        return text or ""
    return f"{say_time(text).partition('.')[0]} ({say_distance(text, now)})"


def _say(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)
