-- One condition per table instead of several: conditions are read and prepared
-- anew by every statement, which costs a claim more than judging them.
alter table pgjobs.leases
  drop constraint leases_can_end,
  drop constraint leases_have_a_holder,
  drop constraint attempts_count_from_one,
  add constraint leases_are_held check (
    attempt > 0 and (worker_id is not null or (holder is not null and until is not null))
  );

alter table pgjobs.outcomes
  drop constraint statuses_are_final,
  drop constraint failures_name_their_error,
  drop constraint only_completed_tasks_have_results,
  drop constraint endings_by_workers_carry_the_token,
  add constraint outcomes_are_whole check (
    case status
      when 'completed' then error is null and token is not null
      when 'failed' then error is not null and token is not null and result is null
      when 'cancelled' then error is null and result is null
      else false
    end
  );
