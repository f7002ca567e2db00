"""What `./run docs` makes a site of: every page, and every public name."""

import json
import re
from importlib import import_module

import pytest

from scripts.site import rest
from scripts.site.library import PAGES, library_pages, names_of
from scripts.site.source import staged
from tests.docs import pages

#: Modules whose names users import.
PUBLIC = sorted({page.module for page in PAGES.values()})


@pytest.fixture(scope="module")
def library():
    return library_pages()


@pytest.mark.parametrize("module", [name for name in PUBLIC if name != "tickwell.policies"])
def test_every_public_name_has_its_place_in_the_reference(module):
    own = [page for page in PAGES.values() if page.module == module]
    described = [name for page in own for name in names_of(page)]
    assert sorted(described) == sorted(import_module(module).__all__)


def test_triggers_policies_and_records_have_pages_of_their_own():
    places = {page.title: names_of(page) for page in PAGES.values() if page.module == "tickwell"}
    assert "Cron" in places["Triggers"]
    assert "Http" in places["Targets"]
    assert "Retry" in places["Policies"]
    assert "Execution" in places["Records"]
    assert "Scheduler" in places["Scheduler"]


def test_the_reference_has_signatures_and_sentences(library):
    text = library["reference/scheduler.md"]
    assert (
        "## Scheduler\n\n```python\nScheduler(\n    store: str = 'sqlite:///tickwell.db',\n" in text
    )
    assert "### Scheduler.pause_job\n\n```python\nasync Scheduler.pause_job(" in text
    assert "| `attempt` | " in library["reference/records.md"]


def test_signatures_hold_nothing_of_the_machine(library):
    assert [text for text in library.values() if re.search(r" at 0x|<[\w.]+ object", text)] == []


def test_every_operation_and_record_of_the_api_has_its_chapter():
    document = rest.description()
    headings = {*pages.headings(rest.rest_page(document))}
    summaries = {each["summary"] for way in document["paths"].values() for each in way.values()}
    assert summaries | set(document["components"]["schemas"]) <= headings


def test_the_navigation_has_every_page():
    listed = re.findall(r": ([\w/-]+\.md)$", (pages.ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    written = [name for name in staged() if not name.startswith("decisions/0")]
    assert sorted(listed) == sorted([*written, *PAGES, "reference/rest.md"])


def test_links_out_of_the_documentation_lead_to_the_repository():
    text = staged()["upgrading.md"]
    assert "](changelog.md)" in text
    assert "](https://github.com/tickwell/tickwell/blob/main/deploy/" in staged()["deployment.md"]
    assert json.dumps(text).count("](../") == 0
