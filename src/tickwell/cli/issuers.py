"""What `tickwell doctor` says of the issuers in the settings."""

from __future__ import annotations

from tickwell.domain.health import Finding, Level
from tickwell.errors import InvalidSetting
from tickwell.settings import Settings


def issuer_findings(settings: Settings) -> list[Finding]:
    """What `tickwell serve` would refuse to start with."""
    if not (settings.oidc or settings.jwt_issuers):
        return []
    from tickwell.services.admin.admin_factory import check_issuers

    try:
        check_issuers(settings)
    except InvalidSetting as error:
        return [Finding(error.field, Level.RED, error.reason, error.hint)]
    return []
