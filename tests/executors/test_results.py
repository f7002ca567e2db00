"""What handlers return: stored by the rules of arguments, or marked as not stored."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import Enum
from uuid import UUID

import pytest

from tests.executors.running import run_to_end
from tickwell import Retry, Run, Scheduler, State
from tickwell.declared.function import handler_of
from tickwell.errors import InvalidPayload
from tickwell.executors.results import LIMIT, MARK, stored, whole

MOMENT = datetime(2026, 12, 24, 18, tzinfo=UTC)


class Way(Enum):
    AIR = "air"


@dataclass
class Parcel:
    price: Decimal
    due: datetime
    ways: tuple[Way, ...]


class Strange:
    def __repr__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("result", "kept"),
    [
        (MOMENT, "2026-12-24T18:00:00+00:00"),
        (Decimal("9.90"), "9.90"),
        (timedelta(minutes=90), "1h30m"),
        (UUID(int=7), "00000000-0000-0000-0000-000000000007"),
        (
            Parcel(Decimal("9.90"), MOMENT, (Way.AIR,)),
            {"price": "9.90", "due": "2026-12-24T18:00:00+00:00", "ways": ["air"]},
        ),
        ({"nested": [MOMENT]}, {"nested": ["2026-12-24T18:00:00+00:00"]}),
        ("x" * (LIMIT - 2), "x" * (LIMIT - 2)),
    ],
)
def test_a_result_is_stored_as_an_argument_is(result, kept):
    assert stored(result) == kept
    assert whole(kept) == kept


@pytest.mark.parametrize(
    ("result", "why", "begins"),
    [
        ({"rows": "x" * LIMIT}, "64012 characters are more than 64000", '{"rows": "xx'),
        (object(), "object is not JSON", "<object object at"),
        (float("nan"), "float is not JSON", "nan"),
        (b"x", "bytes is not JSON", "b'x'"),
        (Strange(), "Strange is not JSON", "<Strange>"),
        (json.loads("[" * 102 + "]" * 102), "list is not JSON: it is nested more", "[[["),
    ],
)
def test_what_cannot_be_stored_is_marked_and_never_a_value(result, why, begins):
    note = stored(result)
    assert note[MARK].startswith(why)
    assert note["begins"].startswith(begins)
    assert len(note["begins"]) <= LIMIT
    with pytest.raises(InvalidPayload, match="was not stored"):
        whole(note)


async def test_the_next_run_is_told_instead_of_getting_a_cut_result():
    scheduler, sizes = Scheduler("memory://"), [LIMIT + 1, 1]

    @scheduler.job(retry=Retry(max_attempts=1))
    async def grow(run: Run) -> dict[str, str]:
        await run.last_result
        return {"rows": "x" * sizes.pop(0)}

    assert (await run_to_end(scheduler, grow)).state is State.SUCCEEDED
    second = await run_to_end(scheduler, grow)
    assert second.state is State.DEAD
    assert "last_result: the result was not stored: 64013 characters" in second.error


def test_a_decimal_is_an_argument_too():
    @Scheduler("memory://").job()
    async def pay(price: Decimal) -> None: ...

    handler = handler_of(pay)
    payload = handler.payload(Decimal("9.90"))
    assert payload == {"price": "9.90"}
    assert handler.arguments(payload) == {"price": Decimal("9.90")}
    with pytest.raises(InvalidPayload, match="a decimal number"):
        handler.arguments({"price": "much"})


@dataclass(frozen=True)
class Bill:
    customer: int
    total: Decimal


async def test_the_result_of_an_execution_is_what_was_returned():
    scheduler = Scheduler("memory://")

    @scheduler.job()
    async def bill(customer: int) -> Bill:
        return Bill(customer, Decimal("9.90"))

    @scheduler.job()
    async def unlike(customer: int) -> Bill:
        return customer  # type: ignore[return-value]

    one = await run_to_end(scheduler, bill, 7)
    assert one.result == Bill(7, Decimal("9.90"))
    assert one.attempts[0].result == {"customer": 7, "total": "9.90"}
    assert (await scheduler.executions(job="bill"))[0].result == one.result
    assert (await run_to_end(scheduler, unlike, 7)).result == 7
