"""Public holidays of a country, from the `holidays` package where it is installed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from tickwell.errors import InvalidInput

_HINT = 'For example "country": "IT", or "country": "DE" with "subdivision": "BY"'


def public_holidays(country: str, subdivision: str | None, years: Sequence[int]) -> list[date]:
    """The public holidays of these years, in order."""
    try:
        import holidays  # noqa: PLC0415 - slow to load, and not everywhere
    except ImportError:
        reason = "the package `holidays` is not installed where calendars are saved"
        hint = 'Run pip install "tickwell[holidays]", or give the dates'
        raise InvalidInput(reason, field="country", hint=hint) from None
    known = holidays.list_supported_countries(include_aliases=False)
    if country not in known:
        reason = f"no country {country[:20]!r} is known, as an ISO code of two letters"
        raise InvalidInput(reason, field="country", hint=_HINT)
    if subdivision is not None and subdivision not in known[country]:
        parts = ", ".join(known[country]) or "none"
        reason = f"no subdivision {subdivision[:20]!r} of {country} is known"
        raise InvalidInput(reason, field="subdivision", hint=f"Expected one of: {parts}")
    return sorted(holidays.country_holidays(country, subdiv=subdivision, years=years))
