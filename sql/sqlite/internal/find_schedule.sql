-- Finds :schedule, by number, public id or address, as :v_schedule; refuses what does not exist.
select coalesce(
  case
    when matches(:schedule, '[0-9]{1,9}') then (select s.id from schedules as s where s.id = cast(:schedule as integer))
    when matches(:schedule, '[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}')
      then (select s.id from schedules as s where s.uuid = lower(:schedule))
    else (select s.id from schedules as s where s.full_name = :schedule)
  end,
  refuse('schedule-not-found', 'Schedule ' || :schedule || ' does not exist', null, 'Write room:name.')
) as v_schedule;
