from tickwell.engine.lane import Lane


def lane(batch=500, lead=0.5):
    return Lane("task", 10, batch, lead)


def test_it_claims_ahead_what_it_can_start_within_the_lead():
    one = lane()
    one.mean = 50.0
    assert one.ahead() == 100
    assert one.room() == 110


def test_it_claims_nothing_ahead_without_a_lead():
    one = lane(lead=0)
    assert (one.ahead(), one.room()) == (0, 10)


def test_it_waits_until_half_of_it_is_gone():
    one = lane()
    one.mean = 50.0
    one.in_hand = 56
    assert one.room() == 0
    one.in_hand = 55
    assert one.room() == 55


def test_other_workers_get_their_share_of_a_burst():
    one = lane(batch=5)
    one.mean = 0.01
    assert one.ahead() == 20
    assert one.room() == 5


def test_slots_of_tasks_that_will_not_end_are_not_claimed_for():
    one = lane()
    one.abandoned = one.busy = 10
    assert one.room() == 0
    one.abandoned = 9
    one.mean = 1000.0
    assert one.room() == 1


def test_slow_attempts_shorten_the_reach():
    one = lane()
    before = one.ahead()
    for _ in range(100):
        one.observe(5.0)
    assert one.ahead() < before // 10
