"""One module for each noun; `ROUTERS` is all of them."""

from __future__ import annotations

from fastapi import APIRouter

from tickwell.api.routes import workers

#: Under `/api/v1`, and the same under `/api`.
ROUTERS: tuple[APIRouter, ...] = (workers.router,)
