-- How functions are planned, said once. A function that is replaced loses its settings, and
-- this block runs again whenever one that it names has changed.
--
-- Hot verbs keep one generic plan that walks indexes: a plan made while a table was small would
-- go on scanning it when it has grown, and a frightened estimate would start the JIT compiler.
-- Lists and views start no parallel workers, which take longer to start than most answers take.
do $$
declare
  v_plan record;
  v_function regprocedure;
begin
  -- What an earlier version said of functions that it did not replace.
  for v_function in
    select f.oid
    from pg_proc as f
    where f.pronamespace = to_regnamespace('pgjobs')
      and f.proconfig::text ~ '\y(plan_cache_mode|jit|max_parallel_workers_per_gather|enable_\w+)='
  loop
    execute format(
      'alter function %s reset plan_cache_mode reset jit reset max_parallel_workers_per_gather'
      ' reset enable_seqscan reset enable_bitmapscan reset enable_hashjoin reset enable_mergejoin', v_function
    );
  end loop;
  for v_plan in
    select p.settings, p.names
    from (values
    ('plan_cache_mode = force_generic_plan; jit = off; max_parallel_workers_per_gather = 0; enable_seqscan = off; enable_bitmapscan = off; enable_hashjoin = off; enable_mergejoin = off', array[
      '_block', '_block_again', '_cancel_children', '_error_pattern', '_found_tasks', '_lock_waiting', '_newest_of_job', '_newest_owned', '_page_of_tasks', '_recheck_blocked', '_release_some', '_resume', '_retire_orphans',
      '_revive_jobs', '_settle', '_shown_cleanups', '_stale', '_stamp_rechecks', '_tell_ended', '_announce_endings', '_trim_log', '_verdicts', 'append_log', 'call_tasks', 'cancel_task', 'cancel_tasks', 'claim_tasks', 'complete_tasks',
      'count_found_tasks', 'fail_tasks', 'find_tasks', 'fire_schedules', 'ignore_task', 'ignore_tasks', 'list_events',
      'list_tasks', 'mark_waiting', 'prune_tasks', 'release_tasks', 'renew_tasks', 'report_progress', 'retry_task',
      'retry_tasks', 'save_step', 'send_signal', 'show_task', 'start_tasks', 'submit_and_show', 'submit_tasks', 'submit_unique',
      'suspend_task', 'track_tasks', 'unignore_task',
      'unignore_tasks', 'update_task', 'watch_task', '_use_quota', '_check_quota', '_capped_owners', '_claim_uncapped',
      'complete_generic_jobs', 'fail_generic_jobs', '_move_pending', '_fail_expired', '_lock_completions'
    ]),
    ('jit = off; max_parallel_workers_per_gather = 0', array[
      '_check_belongings', '_check_places', '_check_sharing', '_check_waits', '_partitions', '_troubles_of_cleanups', '_troubles_of_database', '_troubles_of_jobs', '_troubles_of_partitions',
      '_troubles_of_schedules', 'blockers', 'errors', 'findings', 'get_generic_job', 'jobs_status', 'list_metrics',
      'metrics', 'overview', 'providers_status', 'storage', 'throughput', 'top'
    ]),
    ('jit = off; max_parallel_workers_per_gather = 0; enable_seqscan = off', array[
      '_cleanup_command', '_jobs_with_holders', '_remove_tasks', '_served_jobs', '_some_tasks_of',
      '_troubles_of_upkeep', '_unserved_cleanups', 'delete_job', 'list_cleanup_nodes', 'reconcile_cleanups',
      'show_workers', 'workers_status'
    ]),
    ('jit = off; max_parallel_workers_per_gather = 0; enable_seqscan = off; enable_hashjoin = off; enable_mergejoin = off', array[
      '_depths', '_sweep_rollups', 'count_tasks', 'failed', 'running', 'scheduled_tasks', 'show_tasks', 'stuck', 'watch_tasks'
    ]),
    ('plan_cache_mode = force_generic_plan; jit = off; max_parallel_workers_per_gather = 0; enable_seqscan = off; enable_hashjoin = off; enable_mergejoin = off', array[
      '_endings', '_prune_events', '_tallies', 'get_task', 'why'
    ]),
    ('enable_seqscan = off; enable_bitmapscan = off', array[
      '_is_over', '_last_task_before'
    ]),
    ('jit = off; max_parallel_workers_per_gather = 0; enable_hashjoin = off; enable_mergejoin = off', array[
      '_sweep_internal', '_sweep_leases'
    ]),
    ('jit = off; max_parallel_workers_per_gather = 0; enable_seqscan = off; enable_bitmapscan = off; enable_hashjoin = off; enable_mergejoin = off', array[
      'acquire_generic_jobs', 'create_generic_jobs', '_chosen_generic', '_inflight', 'waiting'
    ]),
    ('plan_cache_mode = force_generic_plan', array[
      '_events_between', 'claim_and_show'
    ]),
    ('enable_hashjoin = on', array[
      '_queue_positions'
    ]),
    ('enable_seqscan = on', array[
      '_is_backlog'
    ]),
    ('plan_cache_mode = force_custom_plan; jit = off; max_parallel_workers_per_gather = 0', array[
      'list_generic_jobs'
    ]),
    ('plan_cache_mode = force_custom_plan; jit = off; max_parallel_workers_per_gather = 0; enable_seqscan = off', array[
      '_chosen_cleanups'
    ]),
    ('plan_cache_mode = force_generic_plan; jit = off; max_parallel_workers_per_gather = 0; enable_seqscan = off', array[
      'heartbeat_and_show'
    ]),
    ('plan_cache_mode = force_generic_plan; jit = off; max_parallel_workers_per_gather = 0; enable_seqscan = off; enable_bitmapscan = off', array[
      'list_task_events'
    ])
    ) as p (settings, names)
  loop
    for v_function in
      select f.oid
      from pg_proc as f
      where f.pronamespace = to_regnamespace('pgjobs') and f.proname = any (v_plan.names)
    loop
      execute format('alter function %s set %s', v_function, replace(v_plan.settings, ';', ' set'));
    end loop;
  end loop;
end
$$;
