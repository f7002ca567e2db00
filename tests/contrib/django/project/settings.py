"""A shop on SQLite or PostgreSQL, as the environment says."""

import json
import os

DATABASES = {"default": json.loads(os.environ["SHOP_DATABASE"])}
INSTALLED_APPS = ["tests.contrib.django.project.shop", "tickwell.contrib.django"]
SECRET_KEY = "test"
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
TASKS = {
    "default": {
        "BACKEND": "tickwell.contrib.django.TickwellBackend",
        "QUEUES": ["default", "mail"],
    }
}
# Whoever is not told of a commit sleeps on.
TICKWELL = {"APP": "shop", "QUEUES": ["default", "mail"], "POLL": "10m"}
