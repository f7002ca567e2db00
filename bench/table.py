"""The table that `./run bench` ends with."""

from collections.abc import Sequence

from bench.figure import Figure

HEADINGS = ("figure", "ours", "against", "ratio", "spread", "bar", "")


def render(figures: Sequence[Figure]) -> str:
    """One line a figure, columns aligned; faults beneath their figure."""
    rows = [HEADINGS, *(_row(figure) for figure in figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    lines = [_line(row, widths) for row in rows]
    lines.insert(1, "  ".join("-" * width for width in widths).rstrip())
    for figure in figures:
        lines += [f"{figure.name}: {fault}" for fault in figure.faults]
    return "\n".join(lines)


def _row(figure: Figure) -> tuple[str, ...]:
    ratio = "" if figure.ratio is None else f"{figure.ratio:.2f}"
    return (
        figure.name,
        figure.ours,
        figure.against,
        ratio,
        figure.spread,
        _bar(figure),
        figure.verdict,
    )


def _bar(figure: Figure) -> str:
    if figure.bar is None:
        return ""
    return f"{'<=' if figure.smaller_is_better else '>='} {figure.bar:g}"


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
