"""What the machine chooses from: few values, so that choices meet."""

from hypothesis import strategies as st

from tickwell.domain.execution import Kind, OutcomeKind, State
from tickwell.domain.gate import Concurrency, Overlap
from tickwell.domain.job import JobState
from tickwell.domain.planning import new_execution
from tickwell.domain.policy import (
    DAY,
    HOUR,
    MINUTE,
    SECOND,
    Backoff,
    Delivery,
    Misfire,
    OnMisfire,
    Retention,
    Retry,
)
from tickwell.domain.target import Call
from tickwell.domain.trigger import Every, OnDemand
from tickwell.ids import execution_id
from tickwell.testing.contract.builders import T0, a_job

waits = st.sampled_from(
    [1, 500, 2 * SECOND, 30 * SECOND, MINUTE, MINUTE, 5 * MINUTE, HOUR, 2 * DAY]
)
horizons = st.sampled_from([0, 0, 2 * SECOND, MINUTE])
limits = st.sampled_from([1, 2, 100, 100, 100])
mostly = st.sampled_from([True] * 7 + [False])
queues = st.sampled_from([("default", "slow")] * 4 + [("slow",), ("default",)])
abilities = st.sampled_from([{"call:work", "call:other"}] * 5 + [{"call:work"}]).map(frozenset)
settled = st.sampled_from([State.PARKED] * 3 + [State.CANCELLED, State.SKIPPED, State.WAITING])
keys = st.sampled_from(["a", "a/1", "b%", "b_"])
documents = st.sampled_from([1, "è", [1, {"x": None}], {"n": [True]}, {}])

_triggers = st.sampled_from(
    [
        Every("1m"),
        Every("1m"),
        Every("30s", max_runs=3),
        Every("1m", jitter="30s"),
        Every("1m", after="finish"),
        Every("20s", after="finish", max_runs=2),
        OnDemand(),
    ]
)
_templates = st.sampled_from(["k", "k-{{payload.n}}"])
_concurrency = st.builds(Concurrency, _templates, st.integers(1, 2))
_no_gate = {"concurrency": None, "rate": None, "rate_key": None}
_gates = st.just(_no_gate) | st.one_of(
    st.builds(lambda one: _no_gate | {"concurrency": one}, _concurrency),
    st.builds(
        lambda rate, key: _no_gate | {"rate": rate, "rate_key": key},
        st.sampled_from(["1/1m", "2/1m", "2/1s"]),
        st.none() | _templates,
    ),
)
_fields = st.fixed_dictionaries(
    {"trigger": _triggers, "overlap": st.sampled_from(Overlap)},
    optional={
        "queue": st.just("slow"),
        "target": st.just(Call("other")),
        "payload": st.sampled_from([{"n": 1}, [1, "è"], "text"]),
        "priority": st.sampled_from([1, 10]),
        "expires": st.sampled_from(["1s", "1m"]),
        "pause_after": st.just(2),
        "auto_remove": st.just(True),
        "dedupe_key": st.sampled_from(["d1", "d2"]),
        "app": st.just("shop"),
        "tags": st.just(("x", "y")),
        "delivery": st.sampled_from(Delivery),
        "misfire": st.builds(Misfire, policy=st.sampled_from(OnMisfire), cap=st.just(3)),
        "retry": st.just(Retry(max_attempts=2, backoff=Backoff.FIXED, delay="1m", jitter=0)),
        "retention": st.sampled_from(
            [Retention(age="1h"), Retention(count=2), Retention(dead="0s")]
        ),
    },
)
jobs = st.builds(lambda fields, gates: fields | gates, _fields, _gates)


def job(id, now, fields):
    return a_job(**({"id": id, "name": id, "created_at": now, "saved_at": now} | fields))


outcomes = st.fixed_dictionaries(
    {"kind": st.sampled_from(OutcomeKind), "started_at": st.booleans()},
    optional={
        "retry": st.booleans(),
        "delay": st.sampled_from([0, SECOND, MINUTE]),
        "error": st.sampled_from(["broken", "è\nline"]),
        "result": documents,
    },
)
requests = st.fixed_dictionaries(
    {
        "overlap": st.sampled_from([Overlap.ALLOW, Overlap.ALLOW, *Overlap]),
        "wait": st.sampled_from([0, 0, SECOND, MINUTE, HOUR]),
        "backfill": st.booleans(),
    },
    optional={"key": st.sampled_from(["k1", "k2"]), "payload": st.sampled_from([{"n": 2}, [0]])},
)


def execution(name, job, now, run, data):
    """A requested run, or a slot of the past minutes."""
    if run["backfill"]:
        fire_time = T0 + (now - T0) // MINUTE * MINUTE - data.draw(st.integers(0, 3)) * MINUTE
        id, kind = execution_id(job.id, fire_time), Kind.FIRE
    else:
        fire_time = now + run["wait"]
        id, kind = _run_id(fire_time, name("run")), Kind.REQUEST
    new = new_execution(
        job, fire_time, id=id, kind=kind, overlap=run["overlap"], payload=run.get("payload")
    )
    new.backfill = run["backfill"]
    new.key = None if run["backfill"] else run.get("key")
    return new


def _run_id(fire_time, name):
    """A UUID that begins with the instant and ends with the number of the name."""
    instant, number = f"{fire_time:012x}", name.rpartition("-")[2]
    return f"{instant[:8]}-{instant[8:]}-7000-8000-{number:0>12}"


job_filters = st.fixed_dictionaries(
    {},
    optional={
        "project": st.sampled_from(["default", "nobody"]),
        "states": st.frozensets(st.sampled_from(JobState)),
        "queue": st.just("slow"),
        "app": st.just("shop"),
        "tag": st.just("x"),
        "search": st.sampled_from(["JOB-", "2", "%"]),
        "auto_remove": st.booleans(),
    },
)
execution_filters = st.fixed_dictionaries(
    {},
    optional={
        "project": st.sampled_from(["default", "nobody"]),
        "states": st.frozensets(st.sampled_from(State), min_size=1),
        "kind": st.sampled_from(Kind),
        "queue": st.just("slow"),
    },
)
