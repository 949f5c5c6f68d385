-- What a team may have made with verbs of 0.1.0: something in every place.
select pgjobs.register_job('@global', 'mail', 'Send', max_attempts => 1, keep => true);
select pgjobs.register_job('lab', 'sim', 'Relax', max_attempts => 3, backoff_base => '1 hour', max_running => 5, keep => true);
select pgjobs.set_error_policy('@global:mail:Send', 'smtp', backoff_base => '1 minute');
select pgjobs.submit_tasks(
  '@global:mail:Send', array(select jsonb_build_object('n', n) from generate_series(1, 8) as n),
  room => 'lab', owner => 'ada', tags => array['red'], idempotency_keys => array(select 'key ' || n from generate_series(1, 8) as n)
);
select pgjobs.submit_tasks('lab:sim:Relax', array['{"atoms": 3}', '{"atoms": 5}']::jsonb[], room => 'lab', delay => '1 day');
select pgjobs.cancel_task(1, reason => 'not needed', actor => 'ada');
select pgjobs.ignore_task(2, actor => 'ada');

create temporary table held as
select l.* from pgjobs.claim_tasks(
  holder => 'me', quantity => 4, lease => '1 hour', in_room => '@global', in_category => 'mail', start => true
) as l;
select pgjobs.complete_tasks(array[task_id], array[token], array['{"sent": true}']::jsonb[], 'me') from held where task_id = 3;
select pgjobs.fail_tasks(array[task_id], array[token], array['no such address'], array['smtp'], array[false], 'me') from held where task_id = 4;
select pgjobs.report_progress(array[task_id], array[token], array['{"done": 0.5}']::jsonb[]) from held where task_id = 5;
create table held_before as select task_id, token from held where task_id in (5, 6);

select pgjobs.register_schedule('nightly', '@global:mail:Send', cron => '30 2 * * *', timezone => 'Europe/Berlin');
select pgjobs.set_job_target('@global:mail:Send', '{"type": "local_dir", "base_dir": "/srv/runs"}', 'node-1');
select pgjobs.create_token('ada', name => 'laptop', rooms => array['lab']);
select pgjobs.create_generic_jobs('shop', 'orders', 'ship', array['{"order": 1}', '{"order": 2}']::jsonb[], owner_user_id => 'ada');
