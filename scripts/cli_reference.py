"""Writes the reference in docs/command-line.md from the commands themselves.

`python -m scripts.cli_reference` brings the page up to date; `--check` only says whether it is.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from tickwell.cli.application import application

PAGE = Path(__file__).parent.parent / "docs" / "command-line.md"
MARK = "<!-- From here on written by scripts/cli_reference.py; edit the commands instead. -->\n"
#: Described once, at the head of the page.
SHARED = ("--store", "--server", "--api-key", "--project", "--json", "--help")


def commands(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Every command below this one with the words that call it, a group before its own."""
    for name, inner in getattr(command, "commands", {}).items():
        if not inner.hidden:
            yield f"{path} {name}", inner
            yield from commands(inner, f"{path} {name}")


def all_commands() -> list[tuple[str, Any]]:
    """Every command of the application."""
    return list(commands(typer.main.get_command(application()), "tickwell"))


def reference() -> str:
    """The generated part of the page."""
    return "\n".join(["## Reference\n", *(_chapter(path, each) for path, each in all_commands())])


def _chapter(path: str, command: Any) -> str:
    level = "##" if path.count(" ") == 1 else "###"
    parts = [f"{level} {path}", " ".join((command.help or "").split())]
    if not hasattr(command, "commands"):
        parts.append(f"```\n{path}{_usage(command)}\n```")
        parts += [_table(rows) for rows in [list(_rows(command))] if rows]
        parts += _shared(command)
    return "\n\n".join(parts) + "\n"


def _usage(command: Any) -> str:
    words = [" [OPTIONS]"]
    for each in command.params:
        if each.param_type_name == "argument":
            name = (each.metavar or each.name).upper() + ("..." if each.nargs == -1 else "")
            words.append(f" {name}" if each.required else f" [{name}]")
    return "".join(words)


def _rows(command: Any) -> Iterator[tuple[str, str, str]]:
    for each in command.params:
        if each.param_type_name == "argument":
            yield f"`{(each.metavar or each.name).upper()}`", _default(each), each.help or ""
        elif not each.hidden and each.opts[0] not in SHARED:
            value = "" if each.is_flag else f" {each.metavar or each.name.upper()}"
            flags = ", ".join(f"`{flag}{value}`" for flag in each.opts)
            flags += "".join(f", `{flag}`" for flag in each.secondary_opts)
            yield flags, _default(each), each.help or ""


def _default(parameter: Any) -> str:
    default = parameter.default
    if default is None and isinstance(getattr(parameter, "show_default", None), str):
        return f"`{parameter.show_default}`"
    if default is False or default in (None, [], "") or callable(default):
        return "required" if parameter.required else ""
    if default is True:
        return f"`{parameter.opts[0]}`"
    return f"`{default}`"


def _table(rows: list[tuple[str, str, str]]) -> str:
    lines = ["| argument or option | default | meaning |", "|---|---|---|"]
    lines += [f"| {name} | {default} | {_cell(text)} |" for name, default, text in rows]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _shared(command: Any) -> Iterator[str]:
    taken = [each.opts[0] for each in command.params if each.opts[0] in SHARED]
    if taken:
        flags = ", ".join(f"`{flag}`" for flag in taken)
        yield f"Also {flags}: see [above](#options-of-all-commands)."


def page(text: str) -> str:
    """The page with its generated part brought up to date."""
    return text.partition(MARK)[0] + MARK + "\n" + reference()


def main() -> int:
    """Write the page, or check it; 1 when it is out of date."""
    before = PAGE.read_text("utf-8")
    after = page(before)
    if "--check" in sys.argv[1:]:
        return int(before != after)
    PAGE.write_text(after, "utf-8")
    print(f"{PAGE.name}: {len(all_commands())} commands")
    return 0


if __name__ == "__main__":
    sys.exit(main())
