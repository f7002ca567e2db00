"""A way in for whoever has the store."""

import json
import urllib.request

from tests.client.served import Served


def test_a_link_logs_in_once(tickwell, folder):
    with Served(f"sqlite:///{folder}/tickwell.db") as served:
        link = tickwell("users", "link", "local").out.strip()
        address, _, token = link.partition("/login?link=")
        assert address == "http://127.0.0.1:8080"
        body = json.dumps({"link": token}).encode()
        request = urllib.request.Request(
            f"{served.url}/api/v1/session", body, {"content-type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert answer.status == 201
        unknown = tickwell("users", "link", "nobody")
        assert (unknown.code, unknown.err) == (
            3,
            "tickwell: no user 'nobody'; see: tickwell users list\n",
        )


def test_a_link_from_a_server_leads_there(tickwell, folder):
    with Served(f"sqlite:///{folder}/behind.db", auth=False) as served:
        made = tickwell("users", "link", "local", "--server", served.url, "--json").json
        assert made["link"].startswith(f"{served.url}/login?link=")


def test_a_link_leads_to_where_people_find_the_dashboard(tickwell, folder, monkeypatch):
    with Served(f"sqlite:///{folder}/tickwell.db"):
        monkeypatch.setenv("TICKWELL_HOST", "login.example.com")
        at = "https://example.com/scheduler"
        link = tickwell("users", "link", "local", "--address", f"{at}/").out.strip()
        address, _, token = link.partition("/login?link=")
        assert address == at
        assert token
        assert "/" not in token
