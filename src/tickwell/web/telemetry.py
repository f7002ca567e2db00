"""What the web framework records by itself, which is nothing."""

from __future__ import annotations

from typing import Any

#: For `FastAPI(telemetry=…)`. It would look into the environment at each request, whether or not
#: anybody traces, and record spans and logs with queries and bodies: a login link is in a query.
NO_TELEMETRY: Any = {"tracing": False, "metrics": False, "logs": False, "auto_configure": False}
