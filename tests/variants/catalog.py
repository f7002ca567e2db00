"""Every broken variant. A test suite that lets one of them pass is no evidence."""

from tests.variants import (
    alerts,
    charts,
    django,
    engines,
    logs,
    mongo,
    postgres,
    signals,
    sqlite,
    stores,
)
from tests.variants.variant import CutOnPostgres, OnPostgres, Simulated, Tested, Variant
from tickwell.testing.simulation import Fault

VARIANTS = [
    Variant(
        name="move before record",
        flaw="a crash between the two writes loses the fires that the cursor passed",
        patch=stores.move_before_record,
        prey=Simulated(violation="was lost|waits for the end|after .* runs", fault=Fault.CRASH),
    ),
    Variant(
        name="skips forgotten once planned",
        flaw="an occurrence that a person skipped runs after an outage",
        patch=engines.skips_forgotten_once_planned,
        prey=Tested(
            test="contract/test_memory.py::TestMemory::test_a_recall_after_an_outage_does_not_run_it"
        ),
    ),
    Variant(
        name="held fires forgotten by edits",
        flaw="missed fires that were held for a decision have no answer after an edit",
        patch=engines.held_fires_forgotten_by_edits,
        prey=Tested(
            test="contract/test_memory.py::TestMemory::test_an_edit_keeps_them_with_the_same_trigger_only"
        ),
    ),
    Variant(
        name="held fires without a note",
        flaw="after a crash, no alert and no page knows of missed fires that are held",
        patch=engines.held_fires_without_a_note,
        prey=Tested(
            test="unit/engine/test_backlog_gates.py::test_a_note_is_on_record_before_anything_is_held"
        ),
    ),
    Variant(
        name="held fires never looked at",
        flaw="the configured answer never applies to a job whose trigger has come to its end",
        patch=engines.held_fires_never_looked_at,
        prey=Tested(
            test="contract/test_memory.py::TestMemory::test_unanswered_the_configured_answer_applies_once"
        ),
    ),
    Variant(
        name="held fires kept by no store",
        flaw="a database forgets the missed fires that a job holds",
        patch=sqlite.backlogs_left_out,
        prey=Tested(
            test="contract/test_sqlite.py::TestSqlite::test_what_is_held_is_one_range_and_later_fires_run"
        ),
    ),
    Variant(
        name="planners unaware of paused projects",
        flaw="a job that is added at the moment of a pause fires throughout it",
        patch=engines.planners_unaware_of_paused_projects,
        prey=Tested(
            test="unit/engine/test_planner.py::test_what_is_added_to_a_paused_project_does_not_fire_from_a_second_later_on"
        ),
    ),
    Variant(
        name="windows that take nothing back",
        flaw="a fire that was planned ahead starts in a maintenance window",
        patch=engines.windows_take_nothing_back,
        prey=Tested(
            test="unit/engine/test_planner.py::test_what_it_planned_into_a_window_that_it_had_not_heard_of_is_taken_back"
        ),
    ),
    Variant(
        name="windows with their end",
        flaw="the first fire after a maintenance window is skipped",
        patch=engines.windows_with_their_end,
        prey=Tested(
            test="contract/test_memory.py::TestMemory::test_its_start_is_inside_and_its_end_is_not"
        ),
    ),
    Variant(
        name="missing while in maintenance",
        flaw="a job that could not run in a maintenance window is reported as missing after it",
        patch=engines.missing_while_in_maintenance,
        prey=Tested(
            test="services/alerts/test_maintenance.py::test_a_job_whose_fire_times_were_inside_is_not_missing_right_after_it"
        ),
    ),
    Variant(
        name="resumptions heard of late",
        flaw="jobs of a resumed project do not fire for ten seconds",
        patch=engines.resumptions_heard_of_late,
        prey=Tested(test="unit/engine/test_planner.py::test_what_is_resumed_fires_at_once"),
    ),
    Variant(
        name="pauses of projects never completed",
        flaw="after a crash some jobs of a resumed project stay paused for good",
        patch=engines.pauses_never_completed,
        prey=Tested(
            test="unit/engine/test_housekeeping.py::test_a_pause_of_a_project_that_was_broken_off_is_completed"
        ),
    ),
    Variant(
        name="held jobs forgotten",
        flaw="a planner that was behind leaves a job of a resumed project paused for good",
        patch=engines.held_jobs_forgotten,
        prey=Tested(
            test="contract/test_memory.py::TestMemory::test_what_a_planner_held_too_late_is_soon_looked_at_again"
        ),
    ),
    Variant(
        name="finished jobs left out of pauses",
        flaw="the last run of a job, planned ahead, starts in a paused project",
        patch=engines.finished_jobs_left_out_of_pauses,
        prey=Tested(
            test="contract/test_memory.py::TestMemory::test_a_finished_job_gives_back_its_last_run_and_gets_it_again"
        ),
    ),
    Variant(
        name="pauses released ahead",
        flaw="what two pauses hold starts when the first of them ends",
        patch=engines.pauses_released_ahead,
        prey=Tested(
            test="simulation/test_project_pauses.py::test_a_paused_project_fires_nothing_and_is_not_left_paused[10-alone]"
        ),
    ),
    Variant(
        name="pauses without a note",
        flaw="a fire that was planned ahead of a pause has a row, and a range counts it as well",
        patch=engines.pauses_without_a_note,
        prey=Tested(
            test="contract/test_memory.py::TestMemory::test_fires_on_record_are_in_no_range"
        ),
    ),
    Variant(
        name="no fence check",
        flaw="a zombie overwrites the attempt that replaced its own",
        patch=stores.no_fence,
        prey=Simulated(violation="a stale report changed", fault=Fault.PAUSE),
    ),
    Variant(
        name="starts unfenced",
        flaw="a zombie's start is shown for the attempt that replaced its own",
        patch=stores.starts_unfenced,
        prey=Tested(
            test="contract/test_memory.py::TestMemory::test_the_next_attempt_begins_without_a_start"
        ),
    ),
    Variant(
        name="permits lost with workers",
        flaw="after a crash each fire of a job is skipped as overlapping a run that has ended",
        patch=stores.permits_lost_with_workers,
        prey=Tested(
            test="contract/test_memory.py::TestMemory::test_two_sweeps_at_once_pass_a_permit_on_once"
        ),
    ),
    Variant(
        name="waiting lines not swept on MongoDB",
        flaw="a worker killed between an end and passing its permit on blocks its job for good",
        patch=mongo.sweeps_no_lines,
        prey=Tested(
            test="stores/mongo/test_leftovers.py::test_a_line_that_its_job_does_not_know_of_goes_on_in_one_sweep"
        ),
    ),
    Variant(
        name="jobs not left out of a claim",
        flaw="a worker takes what it may not run again and again, and others never see it",
        patch=stores.jobs_not_left_out,
        prey=Tested(
            test="contract/test_memory.py::TestMemory::test_what_a_worker_leaves_out_is_for_others"
        ),
    ),
    Variant(
        name="hand first in, first out",
        flaw="an urgent run waits behind all that its worker has claimed before",
        patch=engines.hand_first_in_first_out,
        prey=Tested(
            test="faults/test_priority.py::test_it_overtakes_all_that_the_worker_has_claimed_ahead"
        ),
    ),
    Variant(
        name="calendars read once",
        flaw="a job that is saved while its calendar changes fires by the former days for ever",
        patch=engines.calendars_read_once,
        prey=Tested(
            test="services/test_calendars.py"
            "::test_a_calendar_that_changes_while_a_job_is_saved_reaches_it"
        ),
    ),
    Variant(
        name="boots forgotten",
        flaw="what runs once for each boot runs again a month later, with a restart of the program",
        patch=engines.boots_forgotten,
        prey=Tested(
            test="library/test_start_runs.py"
            "::test_a_boot_is_remembered_longer_than_the_history_of_its_run"
        ),
    ),
    Variant(
        name="condition asked again",
        flaw="work that an attempt has begun is left half done, since there is nothing new to do",
        patch=engines.conditions_asked_again,
        prey=Tested(
            test="library/test_conditions.py::test_what_has_begun_is_not_asked_about_again"
        ),
    ),
    Variant(
        name="a condition's no that counts as a run",
        flaw="a job with max_runs is over after fires that ran nothing",
        patch=sqlite.no_without_the_cursor,
        prey=Tested(test="contract/test_sqlite.py::TestSqlite::test_it_does_not_count_as_a_run"),
    ),
    Variant(
        name="steps unfenced",
        flaw="a zombie adds to what the attempt that replaced its own relies on",
        patch=stores.steps_unfenced,
        prey=Tested(
            test="contract/test_memory.py::TestMemory::test_a_lost_attempt_writes_nothing_once_it_is_recovered"
        ),
    ),
    Variant(
        name="steps unfenced on MongoDB",
        flaw="a zombie adds to what the attempt that replaced its own relies on",
        patch=mongo.steps_unfenced,
        prey=Tested(
            test="contract/test_mongo.py::TestMongo::test_a_lost_attempt_writes_nothing_once_it_is_recovered"
        ),
    ),
    Variant(
        name="steps without a lock on PostgreSQL",
        flaw="a step is kept that the next attempt has not seen and does again",
        patch=postgres.steps_without_lock,
        prey=Tested(
            test="stores/postgres/test_steps.py::test_an_attempt_does_not_end_while_its_step_is_written"
        ),
    ),
    Variant(
        name="steps not waited for",
        flaw="a process that dies next has done what it does again",
        patch=engines.steps_not_waited_for,
        prey=Tested(
            test="executors/test_steps.py::test_a_stale_attempt_is_told_and_the_others_go_on"
        ),
    ),
    Variant(
        name="steps forgotten",
        flaw="a retried attempt charges the card once more",
        patch=engines.steps_forgotten,
        prey=Tested(
            test="executors/test_steps.py::test_a_retried_attempt_goes_on_where_the_last_one_stopped"
        ),
    ),
    Variant(
        name="answers unheeded",
        flaw="an answer that comes as the attempt ends is slept over until the question expires",
        patch=stores.answers_unheeded,
        prey=Tested(
            test="contract/test_memory.py::TestMemory::test_an_answer_that_comes_while_it_runs_is_not_slept_over"
        ),
    ),
    Variant(
        name="answers unheeded on PostgreSQL",
        flaw="an answer that comes as the attempt ends is slept over until the question expires",
        patch=postgres.answers_unheeded,
        prey=OnPostgres(contract="test_an_answer_that_comes_while_it_runs_is_not_slept_over"),
    ),
    Variant(
        name="answers in haste",
        flaw="a parent that met an outage uses up its attempts with each child that answers",
        patch=stores.answers_in_haste,
        prey=Tested(
            test="contract/test_memory.py::TestMemory::test_the_retry_of_an_attempt_that_asked_keeps_its_delay"
        ),
    ),
    Variant(
        name="answers replaced",
        flaw="a refund that was approved and made is refused afterwards",
        patch=stores.answers_replaced,
        prey=Tested(test="contract/test_memory.py::TestMemory::test_an_answer_is_given_once"),
    ),
    Variant(
        name="addresses unproven",
        flaw="anybody approves anything",
        patch=engines.addresses_unproven,
        prey=Tested(test="api/test_answers.py::test_an_address_that_was_changed_is_none"),
    ),
    Variant(
        name="waits charged",
        flaw="an execution that asks twice is dead before the second answer",
        patch=engines.waits_charged,
        prey=Tested(test="unit/domain/test_outcome.py::TestWaiting::test_it_costs_nothing"),
    ),
    Variant(
        name="losses without their start",
        flaw="an attempt that ran for an hour and was lost looks as if it had never begun",
        patch=engines.losses_without_start,
        prey=Tested(test="unit/engine/test_start_recorder.py::test_a_lost_attempt_keeps_its_start"),
    ),
    Variant(
        name="attempt given back on release",
        flaw="two attempts share a number, which is the fencing token",
        patch=stores.attempt_given_back,
        prey=Simulated(violation="attempts? .* (to|of) ", fault=Fault.RESTART),
    ),
    Variant(
        name="limit counted at claim",
        flaw="two workers count at the same moment and both take the last place",
        patch=stores.limit_counted_at_claim,
        prey=Simulated(violation="hold a place in"),
    ),
    Variant(
        name="rate by admission",
        flaw="workers that were away start the runs of several periods at once",
        patch=stores.rate_by_admission,
        prey=Tested(
            test="contract/test_memory.py::TestMemory::test_a_late_claim_delays_the_next_start"
        ),
    ),
    Variant(
        name="rate by one clock",
        flaw="a process whose clock is behind starts what another takes for permitted by now",
        patch=stores.rate_by_one_clock,
        prey=Tested(
            test="contract/test_memory.py::TestMemory"
            "::test_a_process_whose_clock_is_behind_starts_nothing_too_early"
        ),
    ),
    Variant(
        name="rate of lost attempts unused",
        flaw="each crash lets one more start in the same period",
        patch=stores.rate_of_lost_unused,
        prey=Tested(
            test="contract/test_memory.py::TestMemory"
            "::test_of_a_lost_attempt_the_permit_is_back_a_period_after_the_loss"
        ),
    ),
    Variant(
        name="rate without a line",
        flaw="what waits for its rate is overtaken by all that comes, and may never start",
        patch=stores.rate_without_a_line,
        prey=Tested(
            test="contract/test_memory.py::TestMemory"
            "::test_whoever_comes_when_a_permit_is_back_stands_behind_those_that_wait"
        ),
    ),
    Variant(
        name="rate read before its lock",
        flaw="two processes give the same permit away",
        patch=postgres.rate_read_before_lock,
        prey=OnPostgres(contract="test_arrivals_and_ends_at_once_lose_no_permit"),
    ),
    Variant(
        name="same run read before its lock",
        flaw="two equal requests at once make two runs",
        patch=postgres.same_run_read_before_lock,
        prey=OnPostgres(contract="test_many_of_one_kind_make_one_run"),
    ),
    Variant(
        name="ended runs count",
        flaw="a job that ran once is never run again on request",
        patch=stores.ended_runs_count,
        prey=Tested(
            test="contract/test_memory.py::TestMemory"
            "::test_one_that_has_ended_counts_for_a_duration_only"
        ),
    ),
    Variant(
        name="debounce without a maximum",
        flaw="a run for which requests keep coming never starts",
        patch=stores.debounce_without_a_maximum,
        prey=Tested(
            test="contract/test_memory.py::TestMemory::test_it_waits_no_longer_than_the_maximum"
        ),
    ),
    Variant(
        name="debounce keeps its permits",
        flaw="a run that was put off keeps others from starting meanwhile",
        patch=stores.debounce_keeps_its_permits,
        prey=Tested(
            test="contract/test_memory.py::TestMemory::test_the_permits_it_holds_go_to_the_next"
        ),
    ),
    Variant(
        name="permits of others taken",
        flaw="more attempts of a project run at once than its limit allows",
        patch=engines.permits_of_others_taken,
        prey=Tested(
            test="unit/engine/test_running_permits.py::"
            "test_all_workers_together_run_no_more_than_the_limit_and_use_it"
        ),
    ),
    Variant(
        name="recovery only at start",
        flaw="what a dead worker ran waits for somebody's restart",
        patch=engines.recovery_at_start_only,
        prey=Simulated(
            violation="is (running|queued|blocked|waiting), due|waits for the end",
            fault=Fault.CRASH,
        ),
    ),
    Variant(
        name="next computed from now",
        flaw="a late planner leaves fires out without a trace",
        patch=engines.next_from_now,
        prey=Simulated(violation="was lost"),
    ),
    Variant(
        name="recalled again",
        flaw="what the policy armed after an absence is taken back by the next that returns",
        patch=stores.recalled_again,
        prey=Simulated(violation="was recalled by", fault=Fault.CRASH),
    ),
    Variant(
        name="recalls taken whole",
        flaw="what the policy armed is taken back with fires around it that were not recalled yet",
        patch=stores.recalls_taken_whole,
        prey=Tested(
            test="contract/test_memory.py::TestMemory::"
            "test_what_was_armed_again_between_others_is_not_recalled_again"
        ),
    ),
    Variant(
        name="recall without a note",
        flaw="fire times that have rows are counted by ranges as well",
        patch=stores.recall_uncounted,
        prey=Simulated(violation="went back|ranges count", fault=Fault.OUTAGE),
    ),
    Variant(
        name="recall without a way back",
        flaw="what was planned ahead is skipped, though the policy wants it to run",
        patch=engines.recall_without_return,
        prey=Tested(
            test="unit/engine/test_recall.py::"
            "test_with_latest_the_newest_runs_even_if_it_was_planned_ahead"
        ),
    ),
    Variant(
        name="recalled though it was tried",
        flaw="a retry that waits is skipped as if nobody had begun",
        patch=engines.recalled_though_tried,
        prey=Tested(
            test="contract/test_memory.py::TestMemory::test_what_was_tried_meanwhile_stays"
        ),
    ),
    Variant(
        name="no recall",
        flaw="what was planned ahead runs after an absence, however late",
        patch=engines.no_recall,
        prey=Tested(
            test="unit/engine/test_recall.py::test_with_skip_what_was_planned_ahead_does_not_run_late"
        ),
    ),
    Variant(
        name="recall before reports",
        flaw="after an outage fires are skipped as overlapping a run that had ended before them",
        patch=engines.recall_before_reports,
        prey=Tested(
            test="unit/engine/test_recall.py::"
            "test_a_run_that_ended_while_the_store_was_away_does_not_overlap"
        ),
    ),
    Variant(
        name="unheard workers believed",
        flaw="after an outage fires are skipped for a run whose end is still to be reported",
        patch=engines.unheard_believed,
        prey=Tested(
            test="unit/engine/test_recall.py::"
            "test_one_fire_alone_waits_for_a_run_whose_worker_is_not_back[False]"
        ),
    ),
    Variant(
        name="lock-only dedupe",
        flaw="a lock that expires lets two planners fire the same instant",
        patch=stores.lock_only,
        prey=Simulated(violation="two executions of"),
    ),
    Variant(
        name="loss by wall-clock age",
        flaw="an outage or a jump of the clock loses every worker",
        patch=engines.loss_by_age,
        prey=Simulated(violation="declared lost though", fault=Fault.JUMP),
    ),
    Variant(
        name="overlap decided ahead of its instant",
        flaw="a fire is skipped for a run that has ended by its instant",
        patch=stores.overlap_ahead,
        prey=Simulated(violation="skipped for overlap before its instant"),
    ),
    Variant(
        name="never-early check dropped",
        flaw="what is claimed ahead starts ahead",
        patch=engines.never_held,
        prey=Simulated(violation="ms early"),
    ),
    Variant(
        name="given back as due",
        flaw="a draining worker's held claims start early elsewhere",
        patch=engines.given_back_as_due,
        prey=Simulated(violation="ms early", fault=Fault.RESTART),
    ),
    Variant(
        name="lease not checked",
        flaw="a worker that stood still starts what was taken from it",
        patch=engines.always_trusted,
        prey=Simulated(violation="without a valid lease", fault=Fault.PAUSE),
    ),
    Variant(
        name="reports dropped",
        flaw="an attempt that ended is run again as if its claim had been lost",
        patch=engines.reports_dropped,
        prey=Simulated(violation="started twice|is running, due|may start once"),
    ),
    Variant(
        name="claims taken twice",
        flaw="one claim found in two ways is run twice",
        patch=engines.claims_taken_twice,
        prey=Tested(
            test="unit/engine/test_worker.py::test_a_claim_found_by_beats_is_not_taken_again_when_it_is_repeated"
        ),
    ),
    Variant(
        name="outage counts as silence",
        flaw="workers that the store did not answer are declared lost",
        patch=engines.outage_counts,
        prey=Tested(test="unit/engine/test_reaper.py::test_an_outage_counts_for_nothing"),
    ),
    Variant(
        name="one plan stops all",
        flaw="a job that cannot be planned holds up the jobs behind it",
        patch=stores.one_plan_stops_all,
        prey=Tested(
            test="unit/engine/test_planner.py::test_a_job_that_cannot_be_planned_is_named_once_and_the_others_fire"
        ),
    ),
    Variant(
        name="lost wake-up",
        flaw="what is written during a step waits for the next poll",
        patch=engines.lost_wake_up,
        prey=Tested(test="unit/engine/test_loop.py::test_a_wake_up_during_a_step_is_not_lost"),
    ),
    Variant(
        name="cancelled attempts never abandoned",
        flaw="a task that swallows a cancellation is running on record for ever",
        patch=engines.cancelled_never_abandoned,
        prey=Tested(
            test="unit/engine/test_deadlines.py::test_the_hard_timeout_ends_what_was_cancelled_on_request_as_well"
        ),
    ),
    Variant(
        name="drain keeps what it holds",
        flaw="claims of a process that stopped wait for the end of its lease",
        patch=engines.drain_keeps,
        prey=Tested(
            test="unit/engine/test_drain.py::test_what_is_held_is_released_at_once_with_the_rest_of_its_wait"
        ),
    ),
    Variant(
        name="busy lanes claim on",
        flaw="slots of tasks that never end are claimed for, and the claims given back in circles",
        patch=engines.busy_lanes_claim,
        prey=Tested(
            test="unit/engine/test_deadlines.py::test_a_full_lane_of_tasks_that_never_end_claims_nothing"
        ),
    ),
    Variant(
        name="a pulse without a worker",
        flaw="a start that was cancelled beats for ever for a worker that runs nothing",
        patch=engines.pulse_outlives_start,
        prey=Tested(
            test="library/test_interrupted.py::test_a_start_that_is_cancelled_leaves_no_pulse_and_no_worker"
        ),
    ),
    Variant(
        name="planners that claim to work",
        flaw="a process that runs nothing counts as the worker of a queue, and nothing is parked",
        patch=engines.every_process_serves,
        prey=Tested(
            test="unit/engine/test_registry.py::test_a_process_without_the_worker_role_can_run_nothing"
        ),
    ),
    Variant(
        name="silence is taken for life",
        flaw="health stays green after the last planner was killed",
        patch=engines.silence_is_life,
        prey=Tested(test="services/test_health.py::test_a_planner_that_misses_beats_is_not_alive"),
    ),
    Variant(
        name="a run beside the one it counts from",
        flaw="a job that is paused and resumed while it runs is run twice at once",
        patch=engines.runs_beside_itself,
        prey=Tested(
            test="services/test_from_the_end.py::test_a_run_that_outlasts_a_pause_is_not_joined_by_another"
        ),
    ),
    Variant(
        name="a message that is trusted",
        flaw="a message that is replayed runs what another worker holds",
        patch=engines.message_trusted,
        prey=Tested(
            test="unit/engine/test_hint_worker.py::test_what_another_worker_holds_is_left_alone"
        ),
    ),
    Variant(
        name="acknowledged before the claim",
        flaw="the broker forgets what nobody has claimed yet, and starts wait for another hint",
        patch=engines.acknowledged_first,
        prey=Tested(
            test="unit/engine/test_hint_worker.py::test_a_caller_waits_while_the_store_is_away"
        ),
    ),
    Variant(
        name="more attempts than Celery threads",
        flaw="a worker runs more at once than its --concurrency",
        patch=engines.more_than_callers,
        prey=Tested(test="unit/engine/test_hint_worker.py::test_never_more_run_than_callers_wait"),
    ),
    Variant(
        name="Celery tasks without an end",
        flaw="under load a Celery worker neither shuts down nor replaces its processes",
        patch=engines.callers_kept,
        prey=Tested(
            test="unit/engine/test_hint_worker.py::test_a_caller_that_has_worked_for_long_is_released_though_more_is_due"
        ),
    ),
    Variant(
        name="lost claims kept at a shutdown",
        flaw="what a worker claimed without an answer waits until its warm shutdown has ended",
        patch=engines.lost_claims_kept,
        prey=Tested(
            test="unit/engine/test_hint_worker.py::test_a_claim_whose_reply_was_lost_before_a_shutdown_is_given_back"
        ),
    ),
    Variant(
        name="jobs per Celery beat",
        flaw="two beats send each task twice",
        patch=engines.jobs_per_beat,
        prey=Tested(
            test="celery_beat/test_scheduler.py::test_two_beats_record_and_send_each_fire_time_once"
        ),
    ),
    Variant(
        name="no fence check on SQLite",
        flaw="a zombie overwrites the attempt that replaced its own",
        patch=sqlite.no_fence,
        prey=Tested(
            test="contract/test_sqlite.py::TestSqlite::test_a_report_with_another_attempt_number_is_refused"
        ),
    ),
    Variant(
        name="no compare-and-set on SQLite",
        flaw="a plan made before a pause fires after it, and the pause is undone",
        patch=sqlite.no_compare_and_set,
        prey=Tested(
            test="stores/sqlite/test_firing.py::test_a_plan_is_left_out_when_its_job_was_paused_meanwhile"
        ),
    ),
    Variant(
        name="move before record on PostgreSQL",
        flaw="a connection lost between two transactions loses the fires that the cursor passed",
        patch=postgres.move_before_record,
        prey=CutOnPostgres(method="fire_due"),
    ),
    Variant(
        name="no fence check on PostgreSQL",
        flaw="a zombie overwrites the attempt that replaced its own",
        patch=postgres.no_fence,
        prey=OnPostgres(contract="test_a_report_with_another_attempt_number_is_refused"),
    ),
    Variant(
        name="attempt given back on PostgreSQL",
        flaw="two attempts share a number, which is the fencing token",
        patch=postgres.attempt_given_back,
        prey=OnPostgres(contract="test_a_failed_attempt_is_followed_by_another"),
    ),
    Variant(
        name="claims without a lock on PostgreSQL",
        flaw="two workers are handed the same execution",
        patch=postgres.claim_without_lock,
        prey=OnPostgres(contract="test_concurrent_claimers_take_every_execution_once"),
    ),
    Variant(
        name="gates counted without a lock on PostgreSQL",
        flaw="two count at the same moment and both take the last place",
        patch=postgres.counted_without_lock,
        prey=OnPostgres(contract="test_releasing_and_arriving_at_once_leave_no_gate_idle"),
    ),
    Variant(
        name="lock-only dedupe on PostgreSQL",
        flaw="planners that meet fire the same instant twice",
        patch=postgres.lock_only,
        prey=OnPostgres(contract="test_planners_with_different_clocks_make_one_record_per_fire"),
    ),
    Variant(
        name="overlap decided ahead of its instant on PostgreSQL",
        flaw="a fire is skipped for a run that has ended by its instant",
        patch=postgres.overlap_ahead,
        prey=OnPostgres(contract="test_fired_ahead_its_instant_decides_and_not_before"),
    ),
    Variant(
        name="lost claims never found on PostgreSQL",
        flaw="what a lost reply held waits for the end of its lease",
        patch=postgres.forgets_who_asked,
        prey=OnPostgres(contract="test_a_repeated_request_gets_the_same_claims"),
    ),
    Variant(
        name="beats without a bound on PostgreSQL",
        flaw="a connection that died without a word costs the lease",
        patch=postgres.endless_beat,
        prey=Tested(
            test="faults/postgres/test_dead_connections.py::test_connections_that_are_forgotten_cost_nobody_a_lease"
        ),
    ),
    Variant(
        name="lazy commits on PostgreSQL",
        flaw="a server that crashes forgets claims, and their attempts are not on record",
        patch=postgres.lazy_commits,
        prey=Tested(
            test="stores/postgres/test_settings.py::test_what_is_confirmed_is_written_although_the_server_would_not_wait"
        ),
    ),
    Variant(
        name="all is thawed on MongoDB",
        flaw="a sweep thaws what a live operation has frozen, whose update is lost",
        patch=mongo.thaws_everything,
        prey=Tested(
            test="stores/mongo/test_between.py::test_a_sweep_thaws_nothing_that_a_newer_operation_has_frozen"
        ),
    ),
    Variant(
        name="places for the frozen on MongoDB",
        flaw="an execution is moved on under the operation that froze it, whose update is lost",
        patch=mongo.lets_frozen_in,
        prey=Tested(
            test="stores/mongo/test_between.py::test_who_comes_to_a_keys_gate_late_moves_nothing_that_was_frozen_since"
        ),
    ),
    Variant(
        name="a run read before the lock on SQLite",
        flaw="a transaction begun without the lock is refused its run for another's write",
        patch=sqlite.read_before_lock,
        prey=Tested(
            test="transactional/test_sqlite.py::test_nobody_writes_between_what_is_read_and_what_is_recorded"
        ),
    ),
    Variant(
        name="a run beside Django's transaction",
        flaw="a run that was asked for inside atomic() outlives a rollback",
        patch=django.beside_the_transaction,
        prey=Tested(test="contrib/django/rollback.py::test_a_rollback_takes_its_runs_along"),
    ),
    Variant(
        name="Celery tasks sent again",
        flaw="a worker that restarts runs every task twice that it was waiting for",
        patch=engines.task_sent_again,
        prey=Tested(
            test="executors/celery/test_tasks.py::test_a_worker_that_drains_leaves_the_task_and_the_next_waits_for_it"
        ),
    ),
    Variant(
        name="Celery tasks without a rule",
        flaw="whoever may create a job may start every task of the Celery app",
        patch=engines.any_task,
        prey=Tested(test="executors/celery/test_tasks.py::test_a_worker_asks_the_rules_again"),
    ),
    Variant(
        name="retries counted as executions",
        flaw="a chart shows an execution as often as it was tried",
        patch=charts.retries_counted,
        prey=Tested(
            test="unit/engine/test_tallies.py::test_an_execution_counts_once_whatever_its_attempts"
        ),
    ),
    Variant(
        name="late reports replace counts",
        flaw="after a store outage a chart has lost what was counted before it",
        patch=charts.late_reports_replace,
        prey=Tested(
            test="unit/engine/test_tallies.py::test_a_late_report_never_replaces_what_was_counted_before"
        ),
    ),
    Variant(
        name="alerts forgotten before delivery",
        flaw="an evaluator that dies before it has delivered an alert takes it along",
        patch=alerts.forgotten_before_delivery,
        prey=Tested(
            test="services/alerts/test_crashes.py::test_a_crash_at_any_call_neither_loses_nor_repeats_a_notice[before-fire]"
        ),
    ),
    Variant(
        name="monitors resolved by a start",
        flaw="a job that starts and fails each night is reported as resolved each night",
        patch=alerts.resolved_by_a_start,
        prey=Tested(test="services/alerts/test_monitors.py::test_a_start_is_no_success[memory]"),
    ),
    Variant(
        name="alerts well beyond the first page",
        flaw="a job that is still late is reported as resolved when others are late as well",
        patch=alerts.well_beyond_the_first_page,
        prey=Tested(
            test="services/alerts/test_rules.py::test_what_is_not_well_stays_so_however_many_others_are_newer[memory-late]"
        ),
    ),
    Variant(
        name="alerts delivered without a key",
        flaw="an evaluator that dies after it has delivered an alert has it sent twice",
        patch=alerts.delivered_without_a_key,
        prey=Tested(
            test="services/alerts/test_crashes.py::test_a_crash_at_any_call_neither_loses_nor_repeats_a_notice[after-fire]"
        ),
    ),
    Variant(
        name="health of a sample",
        flaw="a crowd in a queue with workers hides the queue that has none",
        patch=signals.lanes_of_a_sample,
        prey=Tested(
            test="services/test_health.py::test_a_crowd_in_a_queue_that_is_served_hides_no_queue_that_is_not"
        ),
    ),
    Variant(
        name="deaths told late",
        flaw="jobs are overdue for longer than 15 s before anybody hears that no worker is alive",
        patch=signals.deaths_told_late,
        prey=Tested(
            test="services/test_health.py::test_each_condition_is_told_within_15_seconds[no_worker]"
        ),
    ),
    Variant(
        name="counts of the dead forgotten",
        flaw="a counter falls when a worker process dies, and rates are wrong",
        patch=signals.counts_of_the_dead_forgotten,
        prey=Tested(
            test="observe/metrics/test_series.py::test_what_a_killed_process_counted_stays"
        ),
    ),
    Variant(
        name="metrics of all projects",
        flaw="the API key of one project reads names of another's queues",
        patch=signals.metrics_of_all_projects,
        prey=Tested(test="api/access/test_metrics_access.py::test_a_key_sees_its_own_project_only"),
    ),
    Variant(
        name="nothing unanswered",
        flaw="without a planner the metric of missed fire times still says 0",
        patch=signals.nothing_unanswered,
        prey=Tested(
            test="observe/metrics/test_store_figures.py::test_fire_times_without_a_record_are_counted"
        ),
    ),
    Variant(
        name="replaced fires uncounted",
        flaw="after an outage the counter of skips misses those that a newer fire replaced",
        patch=signals.replaced_fires_uncounted,
        prey=Tested(
            test="contract/test_memory.py::TestMemory::test_promotion_tells_whose_place_a_newer_one_took"
        ),
    ),
    Variant(
        name="secrets logged",
        flaw="whoever reads the log can log in",
        patch=logs.secrets_logged,
        prey=Tested(test="observe/test_log_output.py::test_no_secret_reaches_a_log"),
    ),
    Variant(
        name="C1 logged",
        flaw="a receiver's error steers the terminal of whoever reads the log",
        patch=logs.c1_logged,
        prey=Tested(test="observe/test_log_output.py::test_no_control_character_reaches_a_log"),
    ),
    Variant(
        name="every failure logged",
        flaw="an outage fills the log, and hides what else happens",
        patch=logs.every_failure_logged,
        prey=Tested(
            test="observe/test_outages.py::test_a_store_that_is_away_is_two_lines_whatever_fails_meanwhile"
        ),
    ),
    Variant(
        name="a trace per attempt",
        flaw="the attempts of an execution cannot be found together",
        patch=logs.trace_per_attempt,
        prey=Tested(
            test="observe/test_traces.py::test_attempts_of_an_execution_are_in_one_trace_and_errors_have_no_secrets"
        ),
    ),
    Variant(
        name="copies counted twice",
        flaw="what a copy writes again after a kill replaces what is there",
        patch=stores.copies_counted_twice,
        prey=Tested(test="contract/test_memory.py::TestMemory::test_what_is_there_is_left_alone"),
    ),
    Variant(
        name="copies without gates",
        flaw="two executions of a job run at once in the store that it was copied to",
        patch=stores.copies_without_gates,
        prey=Tested(
            test="contract/test_memory.py::TestMemory::test_the_jobs_own_gate_is_held_as_before"
        ),
    ),
]
