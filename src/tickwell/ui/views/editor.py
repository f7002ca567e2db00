"""The job editor: a form and the document side by side, with what it would do as one types."""

from __future__ import annotations

from dataclasses import dataclass
from zoneinfo import ZoneInfo, available_timezones

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from tickwell.domain.ability import CELERY, handler_of, is_call
from tickwell.domain.document.initial_state import initial_state
from tickwell.domain.document.job import with_retention
from tickwell.domain.http.target import METHODS
from tickwell.domain.job import Entry, Job
from tickwell.errors import Conflict, InvalidInput, LimitReached, VersionConflict
from tickwell.services.access.actor import Permission
from tickwell.services.operations.previews import Preview
from tickwell.services.operations.trials import Trial
from tickwell.ui.draft import Draft, definition
from tickwell.ui.form_parse import from_fields, from_text
from tickwell.ui.formatting import lines_between
from tickwell.ui.redirects import redirect_with_toast
from tickwell.ui.rendering import page
from tickwell.ui.visitor import Visitor, visit
from tickwell.web.cancel_on_disconnect import cancel_on_disconnect

_OVERTAKEN = (
    "Version {} was saved by someone else in the meantime; your changes are not saved yet. "
    "The differences are shown below. Save again to apply your changes on top."
)

router = APIRouter(include_in_schema=False)
#: Whose cron expression it is, as the form names them.
_DIALECTS = {"cron": "cron", "quartz": "Quartz", "aws": "EventBridge", "celery": "Celery"}


@dataclass(slots=True, kw_only=True)
class Shown:
    """What the page says about a draft."""

    draft: Draft
    preview: Preview | None
    changes: list[str]


@router.get("/jobs/new")
async def new(request: Request, visitor: Visitor = visit(Permission.EDIT)) -> HTMLResponse:
    """A job that fires every morning, to begin with."""
    trigger = {"cron": "0 9 * * *", "tz": visitor.zone.key}
    document = {"name": "", "trigger": trigger, "target": {"http": {"url": "https://"}}}
    return await _editor(request, visitor, Draft(document), None)


@router.get("/jobs/{id}/edit")
async def edit(
    request: Request, id: str, visitor: Visitor = visit(Permission.EDIT)
) -> HTMLResponse:
    """The definition as it is."""
    entry = await visitor.operations.jobs.get(visitor.actor, id)
    return await _editor(request, visitor, Draft(definition(entry.job)), entry)


@router.post("/jobs/preview")
async def preview(request: Request, visitor: Visitor = visit(Permission.EDIT)) -> HTMLResponse:
    """The same page over what was typed, of which a part is taken; nothing is saved."""
    draft, entry = await _typed(request, visitor)
    return await _editor(request, visitor, draft, entry)


@router.post("/jobs/save")
async def save(request: Request, visitor: Visitor = visit(Permission.EDIT)) -> Response:
    """Add the job, or put the definition in the place of the one that was read."""
    draft, entry = await _typed(request, visitor)
    job = draft.job()
    if job is None:
        return await _editor(request, visitor, draft, entry, status=422, complete=True)
    operations, actor = visitor.operations.jobs, visitor.actor
    form = await request.form()
    try:
        if entry is None:
            state = initial_state(draft.document)
            found = (await operations.create(actor, job, state=state)).entry
        else:
            version = _version(str(form.get("version", entry.job.version)))
            stated = draft.document
            found = (
                await operations.replace(actor, entry.job.id, job, version, stated=stated)
            ).entry
    except VersionConflict as error:
        draft.errors[""] = _OVERTAKEN.format(error.found)
        return await _editor(request, visitor, draft, entry, status=422, complete=True)
    except (InvalidInput, Conflict, LimitReached) as error:
        draft.errors[getattr(error, "field", "") or "name"] = str(error)
        return await _editor(request, visitor, draft, entry, status=422, complete=True)
    message = f"Saved {found.job.name}"
    return redirect_with_toast(request, message, f"/jobs/{found.job.id}")


@router.post("/jobs/try")
async def try_out(request: Request, visitor: Visitor = visit(Permission.EDIT)) -> HTMLResponse:
    """Send what was typed once, and show what came back; nothing is saved."""
    draft, entry = await _typed(request, visitor)
    job, found, untried = draft.job(), None, "Fix the marked fields first"
    status = 200
    if job is not None:
        trial = visitor.operations.trials.send(visitor.actor, job, entry.job if entry else None)
        try:
            found = await cancel_on_disconnect(request, trial)
        except (InvalidInput, LimitReached) as error:
            untried = str(error)
            # A script of ours would not show what comes with another status.
            if isinstance(error, LimitReached) and "hx-request" not in request.headers:
                status = 429
    return await _editor(
        request, visitor, draft, entry, status=status, trial=found, untried=untried, complete=True
    )


async def _typed(request: Request, visitor: Visitor) -> tuple[Draft, Entry | None]:
    form = await request.form()
    typed = {name: str(value) for name, value in form.items()}
    id = typed.get("id", "")
    entry = await visitor.operations.jobs.get(visitor.actor, id) if id else None
    draft = from_text(typed.get("document", ""))
    if draft.errors:
        draft.typed = typed  # the form cannot follow, and neither side is lost
    elif typed.get("side") != "document":
        draft = from_fields(draft, typed)
    return draft, entry


async def _editor(
    request: Request,
    visitor: Visitor,
    draft: Draft,
    entry: Entry | None,
    *,
    status: int = 200,
    trial: Trial | None = None,
    untried: str = "",
    complete: bool = False,
) -> HTMLResponse:
    """The page; what is not complete yet may lack what a new job begins without."""
    shown = await _shown(visitor, draft, entry, complete=complete or entry is not None)
    fields = draft.fields()
    able_to = await _abilities(visitor)
    tz = fields["tz"] or ("UTC" if fields["trigger"] == "cron" else "")
    return page(
        request,
        visitor,
        "editor.html",
        status,
        entry=entry,
        shown=shown,
        draft=draft,
        fields=fields,
        text=draft.text,
        job_zone=ZoneInfo(tz) if tz in available_timezones() else None,
        zones=sorted(available_timezones()),
        methods=METHODS,
        dialects=_DIALECTS,
        handlers=sorted({handler_of(able) for able in able_to if is_call(able)}),
        sends_tasks=CELERY in able_to,
        secrets=await _secrets(visitor),
        trial=trial,
        untried=untried,
    )


async def _shown(visitor: Visitor, draft: Draft, entry: Entry | None, *, complete: bool) -> Shown:
    if "document" in draft.errors:
        return Shown(draft=draft, preview=None, changes=[])
    checked = draft if complete else draft.with_placeholders()
    job, trigger, found = checked.job(), draft.trigger(), None
    draft.errors |= checked.errors
    if complete:
        draft.mark_missing()
    if trigger is not None:
        found = await visitor.operations.previews.trigger(visitor.actor, trigger)
    changes = _changes(entry.job, job) if entry is not None and job is not None else []
    return Shown(draft=draft, preview=found, changes=changes)


def _version(typed: str) -> int:
    """The version that the page was made of."""
    if not typed.isdecimal() or len(typed) > 9:
        raise InvalidInput("is not a job version", field="version", hint="Reload the page")
    return int(typed)


async def _abilities(visitor: Visitor) -> set[str]:
    """What live workers can do for the project."""
    workers = await visitor.operations.workers.list(visitor.actor)
    return {able for each in workers if not each.lost for able in each.worker.abilities}


async def _secrets(visitor: Visitor) -> list[str]:
    """The names to choose from, for those who may list them."""
    if visitor.context.admin is None or not visitor.may(Permission.ADMINISTER):
        return []
    found = await visitor.admin.secrets.list(visitor.actor)
    return [each.name for each in found]


def _changes(before: Job, after: Job) -> list[str]:
    """The lines of the document that saving would change."""
    saved = with_retention(after, before.retention)
    return lines_between(definition(before), definition(saved))
