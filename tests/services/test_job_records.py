"""What OpenAPI and the clients' types say of a job is what reading a job does."""

from copy import deepcopy

import pytest

from tickwell.domain.document import job_from_document
from tickwell.errors import InvalidInput
from tickwell.services.operations.records import job as records
from tickwell.services.operations.schema import fields_of
from tickwell.services.operations.value_kinds import MISSING, OMITTED, AnyOf, Choice, Whole

BASE = {
    "id": "",
    "name": "report",
    "trigger": {"every": "5m"},
    "target": {"http": {"url": "https://example.com/hook"}},
}
CALL = BASE | {"target": {"call": {"handler": "send_report"}}}
TASK = BASE | {"target": {"celery": {"task": "shop.tasks.charge"}}}
#: What describes a part of a job, the document that it is tried in, and the part's path.
PARTS = {
    "job": (records.JobBody, BASE, ()),
    "retry": (records.Retry, BASE, ("retry",)),
    "misfire": (records.Misfire, BASE, ("misfire",)),
    "concurrency": (records.Concurrency, BASE | {"concurrency": {"key": "k"}}, ("concurrency",)),
    "timeout": (records.Timeout, BASE, ("timeout",)),
    "retention": (records.Retention, BASE, ("retention",)),
    "http": (records.HttpCall, BASE, ("target", "http")),
    "call": (records.HandlerCall, CALL, ("target", "call")),
    "celery": (records.TaskCall, TASK, ("target", "celery")),
}
#: Fields that only read models have, or that a body has under another name.
SERVICE = {"id", "project", "version", "saved_at", "created_at", "app", "declared"}
EACH = [
    pytest.param(*part, field, id=f"{name}-{field.name}")
    for name, part in PARTS.items()
    for field in fields_of(part[0])
]


def with_value(document, path, name, value):
    found = deepcopy(document)
    inner = found
    for step in path:
        inner = inner.setdefault(step, {})
    inner[name] = value
    return found


def kind_of(field):
    return field.kind.some if isinstance(field.kind, AnyOf) and field.kind.null else field.kind


@pytest.mark.parametrize(("record", "document", "path"), PARTS.values(), ids=PARTS)
def test_the_described_fields_are_those_that_are_read(record, document, path):
    with pytest.raises(InvalidInput) as refused:
        job_from_document(with_value(document, path, "qqqqqqqqqqqq", 1))
    known = refused.value.hint.removeprefix("Expected one of ").split(", ")
    described = {field.name for field in fields_of(record)} - {"json", "text"}
    assert described == set(known) - SERVICE


@pytest.mark.parametrize(("record", "document", "path", "field"), EACH)
def test_a_stated_default_is_the_one_that_applies(record, document, path, field):
    if field.info.default is MISSING or field.info.default is OMITTED or field.name == "json":
        return
    stated = with_value(document, path, field.name, field.info.default)
    assert same(job_from_document(stated)) == same(job_from_document(document))


@pytest.mark.parametrize(("record", "document", "path", "field"), EACH)
def test_a_stated_bound_is_the_one_that_applies(record, document, path, field):
    info = field.info
    if not isinstance(kind_of(field), Whole):
        return
    for bound, beyond in ((info.ge, -1), (info.le, 1)):
        if bound is not None:
            job_from_document(with_value(document, path, field.name, bound))
            with pytest.raises(InvalidInput):
                job_from_document(with_value(document, path, field.name, bound + beyond))


@pytest.mark.parametrize(("record", "document", "path", "field"), EACH)
def test_the_stated_choices_are_those_that_are_read(record, document, path, field):
    kind = kind_of(field)
    if not isinstance(kind, Choice):
        return
    with pytest.raises(InvalidInput) as refused:
        job_from_document(with_value(document, path, field.name, "qqqqqqqqqqqq"))
    assert all(str(choice) in str(refused.value) for choice in kind.words)
    for choice in kind.words:
        job_from_document(with_value(document, path, field.name, choice))


def same(job):
    """The job without what each reading makes anew."""
    return {name: getattr(job, name) for name in job.__dataclass_fields__ if name != "id"}
