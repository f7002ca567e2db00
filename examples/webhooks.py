"""Signed webhooks to a receiver that verifies and deduplicates them.

It prints:
    POST /orders: verified, order 4711
    the receiver failed once; the same webhook-id came again
    both attempts on record: ['failed', 'succeeded']
"""

import asyncio
import base64
import secrets

from tickwell import Backoff, Http, Retry, Scheduler, Settings
from tickwell.domain.execution import State
from tickwell.events import AttemptsFinished
from tickwell.receivers import verify
from tickwell.testing import Receiver

key = "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()
# Allow what is forbidden by default: plain http, loopback addresses, any port.
local = Settings(allow_http=True, allow_private=("127.0.0.0/8",), allow_ports=("1-65535",))
scheduler = Scheduler("memory://", settings=local)
ended = asyncio.Event()


@scheduler.on(AttemptsFinished)
def notice(event: AttemptsFinished) -> None:
    """Tell the main program when the last attempt has ended."""
    if any(report.state is State.SUCCEEDED for report in event.reports):
        ended.set()


async def main() -> None:
    """Send one webhook, let it fail once, and print what arrived."""
    with Receiver() as receiver:
        receiver.answer(503, 200)
        async with scheduler:
            await scheduler.add_job(
                "order-hook",
                None,
                Http(receiver.url("/orders"), body={"order": "{{payload.order}}"}, sign_with=[key]),
                retry=Retry(delay="100ms", backoff=Backoff.FIXED, jitter=0),
            )
            execution = await scheduler.trigger("order-hook", {"order": 4711})
            await ended.wait()
            first, again = receiver.requests
            delivery = verify(first.body, first.headers, key)
            print(f"{first.method} {first.path}: verified, order {first.json['order']}")
            if delivery.id == again.id == execution.id:
                print("the receiver failed once; the same webhook-id came again")
            record = await scheduler.get_execution(execution.id)
            print("both attempts on record:", [str(each.outcome) for each in record.attempts])


if __name__ == "__main__":
    asyncio.run(main())
