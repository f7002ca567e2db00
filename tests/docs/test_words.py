"""One word for one thing, as the glossary has them, in plain English."""

import ast
import re

import pytest

from scripts import cli_reference
from tests.docs import pages

SOURCE = pages.ROOT / "src" / "tickwell"
#: What others call it, and what it is called here.
OTHER_WORDS = {
    r"\bworker pool": "worker",
    r"\bDLQ\b|\bdead.letter queue": "dead letters",
    r"\bpoll loop": "planner",
    r"\bmaster|\bslave": "planner, worker",
    r"\b(simply|just|easily|seamless\w*|blazing\w*|powerful|robust)\b": "(leave it out)",
    r"\b(busy|free|total|task|thread) slots\b": "capacity; a slot is a fire time with its answer",
}
#: What no reader of English expects, and what is written instead.
UNPLAIN = {
    r"\bwhoever\b": "the worker, the caller, an admin",
    r"\bso many\b": "maximum, N",
    r"\bin peace\b": "circuit breaker open",
    r"\bwaits? for you\b|\bneeds you\b": "needs attention",
    r"\bbe believed\b": "valid",
    r"\bwho one is\b|\basked who they are\b": "authentication",
    r"\bin person\b": "in a logged-in session",
    r"\bhung up\b": "disconnected",
    r"\b(hush|savable|discretion|strangers?)\b": "(see the glossary)",
    r"\bis said by\b": "is read-only",
    r"\bhalf of a character\b": "an unpaired surrogate",
    r"\bexclude each other\b": "are mutually exclusive",
    r"\bone of those known\b": "unknown value",
    r"\bone too many\b": "are mutually exclusive",
    r"\btaken for lost\b": "declared lost",
    r"\b(begins?|began|begun) (it )?anew\b": "start again",
    r"\bin the place of\b": "replaces",
    r"\b(said|told) twice\b": "duplicate",
    r"\bscratch place\b": "scratch tables, a temporary folder",
}
#: In a text for people, a person has a role.
VAGUE = UNPLAIN | {r"\b(nobody|somebody|anybody)\b": "the user, an admin; or no subject at all"}


def unfit(text, words):
    return {
        match[0]: better
        for pattern, better in words.items()
        if (match := re.search(pattern, text, re.IGNORECASE))
    }


@pytest.mark.parametrize("page", pages.PAGES, ids=pages.name)
def test_pages_use_our_words(page):
    prose = pages.prose(page.read_text("utf-8"))
    reasons = page.parent.name == "decisions"
    assert unfit(prose, OTHER_WORDS | (UNPLAIN if reasons else VAGUE)) == {}


@pytest.mark.parametrize(
    "template", sorted((SOURCE / "ui" / "templates").rglob("*.html")), ids=pages.name
)
def test_the_dashboard_is_in_plain_english(template):
    shown = re.sub(r"\{#.*?#\}", "", template.read_text("utf-8"), flags=re.DOTALL)
    assert unfit(shown, OTHER_WORDS | VAGUE) == {}


@pytest.mark.parametrize(
    "script", sorted((SOURCE / "ui" / "static" / "js").glob("*.js")), ids=pages.name
)
def test_messages_of_scripts_are_in_plain_english(script):
    texts = re.findall(r'"[^"\n]*"|`[^`]*`', script.read_text("utf-8"))
    assert unfit("\n".join(texts), OTHER_WORDS | VAGUE) == {}


def messages(module):
    """Texts of a module that people may read: all of them but docstrings."""
    tree = ast.parse(module.read_text("utf-8"))
    docstrings = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or id(node) in docstrings:
            continue
        if isinstance(node.value, str):
            yield node.value


@pytest.mark.parametrize(
    "folder", sorted(path for path in SOURCE.iterdir() if path.is_dir()), ids=pages.name
)
def test_errors_help_and_log_lines_are_in_plain_english(folder):
    modules = [path for path in folder.rglob("*.py") if "statements" not in path.parts]
    found = {
        f"{pages.name(module)}: {text[:80]}": better
        for module in modules
        for text in messages(module)
        if (better := unfit(text, VAGUE if " " in text else UNPLAIN))
    }
    assert found == {}


@pytest.mark.parametrize(
    "folder", sorted(path for path in SOURCE.iterdir() if path.is_dir()), ids=pages.name
)
def test_docstrings_name_the_caller(folder):
    found = [
        f"{pages.name(module)}: {text[:80]}"
        for module in folder.rglob("*.py")
        for node in ast.walk(ast.parse(module.read_text("utf-8")))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and (text := ast.get_docstring(node))
        and re.search(r"\bwhoever\b", text, re.IGNORECASE)
    ]
    assert found == []


@pytest.mark.parametrize(("path", "command"), cli_reference.all_commands())
def test_help_of_an_option_is_short(path, command):
    helps = {each.name: getattr(each, "help", None) or "" for each in command.params}
    helps.pop("show_completion", None)  # by Typer
    assert {name: text for name, text in helps.items() if len(text) > 60} == {}
