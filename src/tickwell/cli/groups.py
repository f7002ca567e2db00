"""Commands under one word, which know what a word that is no command may have meant."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup

#: What other programs call it.
_ALSO_CALLED = {
    **dict.fromkeys(("run", "fire", "now"), "trigger"),
    **dict.fromkeys(("delete", "remove", "del"), "rm"),
    **dict.fromkeys(("create", "new"), "add"),
    **dict.fromkeys(("get", "describe", "info", "logs", "log"), "show"),
    **dict.fromkeys(("update", "set", "change"), "edit"),
    **dict.fromkeys(("start", "up", "server"), "serve"),
    **dict.fromkeys(("status", "check", "health"), "doctor"),
    **dict.fromkeys(("retry", "replay", "requeue"), "revive"),
    **dict.fromkeys(("watch", "tail"), "follow"),
    "ls": "list",
    "runs": "history",
}
#: Places that are named at most.
_MOST = 3
#: Options of all commands, which stand after the command.
_OF_ALL = ("--store", "--server", "--api-key", "--project", "--json")


class Group(TyperGroup):
    """Says where a command is, whether it was looked for in the wrong place or by another name."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Say of an option that belongs to a command where it stands."""
        flag = args[0].partition("=")[0] if args else ""
        if flag in _OF_ALL and not ctx.resilient_parsing:  # a shell only asks what may follow
            ctx.fail(f"{flag} goes after the command: tickwell jobs list {flag} …")
        rest: list[str] = super().parse_args(ctx, args)
        return rest

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command of these words."""
        name = args[0] if args else ""
        if name not in self.commands and not name.startswith("-"):
            wanted = {name, _ALSO_CALLED.get(name, name)}
            found = [f"tickwell {path}" for path in _paths() if path.split()[-1] in wanted]
            # Those of the group that was asked are meant, if there are any.
            found = [each for each in found if each.startswith(f"{ctx.command_path} ")] or found
            if found:
                ctx.fail(f"No such command {name!r}. Did you mean: {', '.join(found[:_MOST])}?")
        return super().resolve_command(ctx, args)


def _paths() -> list[str]:
    """Every command, as the words after `tickwell`."""
    import typer

    from tickwell.cli.application import application

    # All of them: the application may have been made for one command only.
    whole: Any = typer.main.get_command(application())
    paths = []
    for name, command in whole.commands.items():
        inner = getattr(command, "commands", None)
        paths += [name] if inner is None else [f"{name} {each}" for each in inner]
    return paths
