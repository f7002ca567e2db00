from tickwell.domain.fairness import FURTHEST, SPREAD, Fairness

T = 1_800_000_000_000


def test_who_adds_little_keeps_its_place():
    fairness = Fairness()
    assert [fairness.delay("a", T + n * SPREAD) for n in range(100)] == [0] * 100


def test_who_adds_much_at_once_moves_back_by_what_it_added():
    fairness = Fairness()
    assert [fairness.delay("a", T) for _ in range(4)] == [0, SPREAD, 2 * SPREAD, 3 * SPREAD]
    assert fairness.delay("b", T) == 0


def test_time_makes_it_good_again():
    fairness = Fairness()
    for _ in range(100):
        fairness.delay("a", T)
    assert fairness.delay("a", T + 60 * SPREAD) == 40 * SPREAD
    assert fairness.delay("a", T + 200 * SPREAD) == 0


def test_nobody_is_moved_back_without_bound():
    fairness = Fairness()
    for _ in range(FURTHEST // SPREAD + 100):
        last = fairness.delay("a", T)
    assert last == FURTHEST


def test_projects_that_are_even_again_are_forgotten():
    fairness = Fairness()
    for number in range(25_000):
        fairness.delay(f"project-{number}", T + number * SPREAD)
    assert len(fairness._next) <= 10_001
