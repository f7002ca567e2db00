"""Made-up expressions: many shapes, all of them valid but for days that never come."""

from collections.abc import Callable
from random import Random

BOUNDS = {"second": (0, 59), "minute": (0, 59), "hour": (0, 23), "day": (1, 31), "month": (1, 12)}
MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]


def make_expression(random: Random, *, seconds: bool = False, special: bool = True) -> str:
    """One expression; `special` adds what cronsim does not take (L-3, 15W, ?)."""
    fields = [
        plain_field(random, "minute", star=0.3),
        plain_field(random, "hour", star=0.5),
        day_field(random, special=special),
        plain_field(random, "month", star=0.75, name=lambda n: MONTHS[n - 1]),
        weekday_field(random, special=special),
    ]
    if seconds:
        fields.insert(0, plain_field(random, "second", star=0.2))
    return " ".join(fields)


def plain_field(
    random: Random, kind: str, star: float, name: Callable[[int], str] | None = None
) -> str:
    low, high = BOUNDS[kind]
    if random.random() < star:
        return "*"
    terms = [plain_term(random, low, high, name) for _ in range(random.choice((1, 1, 1, 2, 3)))]
    return ",".join(terms)


def plain_term(random: Random, low: int, high: int, name: Callable[[int], str] | None) -> str:
    first, last = sorted(random.sample(range(low, high + 1), k=2))
    step = random.randint(1, high - low + 1)
    shape = random.randrange(6)
    if shape == 0:
        return f"*/{step}"
    if shape == 1:
        return f"{first}-{last}"
    if shape == 2:
        return f"{first}-{last}/{step}"
    if shape == 3:
        return f"{first}/{step}"
    return name(first) if name and shape == 4 else str(first)


def day_field(random: Random, *, special: bool) -> str:
    shape = random.random()
    if shape < 0.5:
        return random.choice("*?") if special else "*"
    if shape < 0.75:
        return plain_field(random, "day", star=0)
    terms = ["L", "LW"]
    if special:
        terms += [f"L-{random.randint(1, 30)}", f"{random.randint(1, 31)}W"]
    chosen = random.choice(terms)
    return f"{chosen},{random.randint(1, 31)}" if random.random() < 0.3 else chosen


def weekday_field(random: Random, *, special: bool) -> str:
    shape = random.random()
    if shape < 0.5:
        return random.choice("*?") if special else "*"
    if shape < 0.8:
        first, last = sorted(random.choices(range(8), k=2))
        plain = [f"{first}", f"{first}-{last}", f"*/{random.randint(1, 7)}"]
        return random.choice([*plain, random.choice(WEEKDAYS), "mon-fri"])
    terms = [f"{random.randint(0, 7)}L", f"{random.randint(0, 7)}#{random.randint(1, 5)}"]
    if special:
        terms.append(f"{random.choice(WEEKDAYS)}L")
    return random.choice(terms)
