"""The history checker: says what is wrong with a history, or nothing.

lost         a fire time or an acknowledged request that nobody answered, or that the store says was
             run although nobody called its handler
early        called before its fire time
doubled      two calls of one attempt, or two records of one fire time
unexplained  attempt n, and no stored reason why n-1 did not do
unrecorded   a call of an attempt that an ended execution has no outcome for
phantom      a call or a record that nothing asked for
miscounted   a range that says another number than it covers
untrue       skipped as overlapping although no other run of its job was live
stuck        neither run nor given up
"""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from tests.faults.history import Call, History, Range, Row, Try

ENDED = {"succeeded", "dead", "cancelled", "skipped"}
#: Outcomes after which another attempt is due; a success is none of them.
REASONS = {"failed", "timed_out", "lost", "released", "snoozed"}
#: Milliseconds in which the end of a run is on record, on a busy machine; until then it is live.
ON_RECORD = 1_000


@dataclass(frozen=True)
class Violation:
    """One thing that must not be."""

    kind: str
    what: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.what}"


def check(history: History) -> list[Violation]:
    """Everything that is wrong; an empty list for a clean history."""
    return [Violation(kind, what) for kind, what in _findings(history)]


def summary(violations: list[Violation]) -> str:
    """The numbers by kind and the first few of each, for an assertion's message."""
    kinds = Counter(violation.kind for violation in violations)
    shown: dict[str, list[str]] = defaultdict(list)
    for violation in violations:
        if len(shown[violation.kind]) < 5:
            shown[violation.kind].append(f"  {violation}")
    lines = [f"{kind}: {count}" for kind, count in kinds.items()]
    return "\n".join(lines + [line for each in shown.values() for line in each])


def _findings(history: History) -> Iterator[tuple[str, str]]:
    rows = {row.id: row for row in history.rows}
    if len(rows) != len(history.rows):
        yield "doubled", "two records with one id"
    calls: dict[str, list[Call]] = defaultdict(list)
    for call in history.calls:
        calls[call.execution].append(call)
    yield from _accounts(history)
    for request in history.requests:
        if request not in rows:
            yield "lost", f"requested run {request} has no record"
    for id, made in calls.items():
        if id not in rows:
            yield "phantom", f"{len(made)} calls of {id}, which the store does not know"
    tells_of_call = {"succeeded"} if history.by_request else {"succeeded", "failed", "timed_out"}
    for row in history.rows:
        yield from _row(row, calls.get(row.id, []), tells_of_call)
    if history.by_reason:
        yield from _reasons(history)


def _accounts(history: History) -> Iterator[tuple[str, str]]:
    """Nominal fire times = executions and skips, and what ranges cover."""
    rows: dict[str, list[int]] = defaultdict(list)
    for row in history.rows:
        if not row.requested:
            rows[row.job].append(row.fire_time)
    ranges: dict[str, list[Range]] = defaultdict(list)
    for each in history.ranges:
        ranges[each.job].append(each)
    for job in sorted({*rows, *ranges} - history.fires.keys()):
        yield "phantom", f"records of the unknown job {job}"
    for job, fires in history.fires.items():
        yield from _account(job, sorted(fires), rows[job], ranges[job])


def _account(
    job: str, fires: list[int], rows: list[int], ranges: list[Range]
) -> Iterator[tuple[str, str]]:
    for fire, count in Counter(rows).items():
        if count > 1:
            yield "doubled", f"{count} records of {job} at {fire}"
    recorded, nominal = set(rows), set(fires)
    for fire in sorted(recorded - nominal):
        yield "phantom", f"{job} has no fire time {fire}"
    covered: set[int] = set()
    for each in ranges:
        # A row beats a range: what has a record of its own does not count into the range.
        inside = fires[bisect_left(fires, each.first) : bisect_right(fires, each.last)]
        passed = [fire for fire in inside if fire not in recorded]
        if len(passed) != each.count:
            yield "miscounted", f"{job}: {each} covers {len(passed)} fire times"
        if covered & set(passed):
            yield "doubled", f"{job}: {each} covers fire times that another range has"
        covered |= set(passed)
    for fire in fires:
        if fire not in recorded and fire not in covered:
            yield "lost", f"{job} at {fire} is neither recorded nor skipped"


def _reasons(history: History) -> Iterator[tuple[str, str]]:
    """Whether what was skipped says the true reason."""
    runs: dict[str, list[Row]] = defaultdict(list)
    for row in history.rows:
        if row.state != "skipped":
            runs[row.job].append(row)
    for row in history.rows:
        if row.state != "skipped" or row.ended is None:
            continue
        name = f"{row.job} at {row.fire_time} ({row.id})"
        if row.reason == "overlap" and not any(_met(row, run) for run in runs[row.job]):
            yield "untrue", f"{name} overlaps, and no other run of its job was live"


def _met(skipped: Row, run: Row) -> bool:
    """Whether a run was live at some moment from the fire time of a skipped one to its skip."""
    assert skipped.ended is not None
    over = run.ended is not None and run.ended + ON_RECORD < skipped.fire_time
    return run.fire_time <= skipped.ended and not over


def _row(row: Row, calls: list[Call], tells_of_call: set[str]) -> Iterator[tuple[str, str]]:
    name = f"{row.job} at {row.fire_time} ({row.id})"
    if row.state not in ENDED:
        yield "stuck", f"{name} is {row.state}, attempt {row.attempt}"
    for attempt, count in Counter(call.attempt for call in calls).items():
        if count > 1:
            yield "doubled", f"{count} calls of attempt {attempt} of {name}"
    for call in calls:
        if call.at + call.slack < row.fire_time:
            yield "early", f"{name} was called {row.fire_time - call.at} ms early"
        if not 1 <= call.attempt <= row.attempt:
            yield "phantom", f"a call of attempt {call.attempt}, of {row.attempt}, of {name}"
    recorded = {each.number for each in row.tries}
    if row.state in ENDED and row.attempt in {call.attempt for call in calls} - recorded:
        yield "unrecorded", f"attempt {row.attempt} of {name} was called; it is {row.state}"
    yield from _tries(name, row, calls, tells_of_call)


def _tries(
    name: str, row: Row, calls: list[Call], tells_of_call: set[str]
) -> Iterator[tuple[str, str]]:
    outcomes = Counter(each.number for each in row.tries)
    stored = {each.number: each.outcome for each in row.tries}
    if any(count > 1 for count in outcomes.values()):
        yield "doubled", f"two outcomes of one attempt of {name}"
    called = {call.attempt for call in calls}
    called_off = {each.number for each in row.tries if _is_called_off(each)}
    for number in range(1, row.attempt):
        # What an edit took back before its start is made again if it still fires then.
        if stored.get(number) in REASONS or number in called_off - called:
            continue
        # Of attempts that were given back untried, one after the other, the newest is kept.
        after = next((outcome for other, outcome in sorted(stored.items()) if other > number), None)
        if number in stored or number in called or after != "released":
            yield "unexplained", f"attempt {number + 1} of {name} after {stored.get(number)}"
    if row.state == "succeeded":
        if row.attempt not in called:
            yield "lost", f"{name} succeeded, and nobody called attempt {row.attempt}"
        if stored.get(row.attempt) != "succeeded":
            yield "unexplained", f"{name} succeeded by {stored.get(row.attempt)}"
    for number, outcome in stored.items():
        if outcome in tells_of_call and number not in called:
            yield "lost", f"attempt {number} of {name} {outcome}, and nobody called it"


def _is_called_off(attempt: Try) -> bool:
    return attempt.outcome == "cancelled" and not attempt.started
