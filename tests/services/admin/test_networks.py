"""Addresses of one network are counted as one."""

import pytest

from tickwell.errors import LimitReached, Unauthenticated
from tickwell.services.access.actor import stranger
from tickwell.services.limits.request_limits import network_of


@pytest.mark.parametrize("office", ["memory"], indirect=True)
async def test_guessing_is_slow_from_all_addresses_of_one_network(office, service):
    def guess(number, network="2001:db8:1:2"):
        address = f"{network}::{number:x}"
        return service.logins.by_password(
            f"user{number}", "wrong password", asker=stranger(address)
        )

    for number in range(30):
        with pytest.raises(Unauthenticated):
            await guess(number)
    with pytest.raises(LimitReached):
        await guess(31)
    with pytest.raises(Unauthenticated):
        await guess(31, "2001:db8:1:3")


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:0db8:0001:0002::/64"),
        ("fe80::1%eth0", "fe80:0000:0000:0000::/64"),
        ("", ""),
        ("testclient", "testclient"),
    ],
)
def test_an_address_is_counted_with_its_network(address, counted):
    assert network_of(address) == counted
