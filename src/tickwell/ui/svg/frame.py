"""A picture that may be wider than the screen: its first column stays while the rest is moved."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """How large it is, and where its first column ends; `top` may be above 0."""

    kind: str
    left: int
    width: int
    top: int
    height: int

    def around(self, names: str, marks: str, attributes: str) -> Markup:
        """The two parts side by side; they are numbers and escaped text only."""
        wide = self.width - self.left
        return Markup(  # noqa: S704 - as said
            f'<div class="framed {self.kind}" {attributes}>'
            f'<div class="names"><svg class="chart" preserveAspectRatio="xMinYMin slice" '
            f'viewBox="0 {self.top} {self.left} {self.height}">{names}</svg></div>'
            f'<svg class="chart" viewBox="{self.left} {self.top} {wide} {self.height}">'
            f"{marks}</svg></div>"
        )
