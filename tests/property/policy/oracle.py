"""What design says of misfires, as sets of fire times; knows nothing of how plans are made."""

from collections import Counter
from dataclasses import dataclass, field

from tickwell.domain.planning import plan
from tickwell.domain.policy import OnMisfire


@dataclass
class Answers:
    executed: list[int] = field(default_factory=list)
    skipped: dict[str, list[int]] = field(default_factory=dict)


def expected(fires, policy, *, now, runs_left=None, paused_through=None):
    """The answers to these unanswered fire times, none of them beyond the horizon."""
    paused = [t for t in fires if paused_through is not None and t <= paused_through]
    others = [t for t in fires if t not in paused]
    on_time = [t for t in others if t >= now - policy.grace]
    missed = [t for t in others if t < now - policy.grace]
    caught_up = {
        OnMisfire.SKIP: [],
        OnMisfire.LATEST: [] if any(t <= now for t in on_time) else missed[-1:],
        OnMisfire.ALL: [t for t in missed[-policy.cap :] if t >= now - policy.catchup_window],
    }[policy.policy]
    executed = caught_up + on_time
    if runs_left is not None and len(executed) >= runs_left:
        executed = executed[:runs_left]
        missed = [t for t in missed if executed and t < executed[-1]]
    left = [t for t in missed if t not in executed]
    return Answers(
        executed, {reason: t for reason, t in (("paused", paused), ("misfire", left)) if t}
    )


def plan_all(job, cursor, now, horizon):
    """Plan until nothing is left over, as a planner does; every plan moves on."""
    plans = [plan(job, cursor, now, horizon)]
    while plans[-1].more:
        before = plans[-1].cursor
        assert before.next_fire_time is not None
        assert before.next_fire_time <= now + horizon
        plans.append(plan(job, before, now, horizon))
        assert plans[-1].cursor.after > before.after
    return plans


def answers_of(job, plans):
    """Plans as answers: ranges are spelled out by the trigger, and their counts compared."""
    answers = Answers([new.fire_time for each in plans for new in each.executions])
    rows = set(answers.executed)
    for skip in (skip for each in plans for skip in each.skips):
        times = [t for t in job.trigger.between(skip.first - 1, skip.last) if t not in rows]
        assert (skip.count, skip.first, skip.last) == (len(times), times[0], times[-1])
        answers.skipped.setdefault(str(skip.reason), []).extend(times)
    return answers


def count_answers(answers):
    """How often each fire time was answered."""
    return Counter(answers.executed) + Counter(
        t for times in answers.skipped.values() for t in times
    )
