-- The end of a :lease that begins now, as :v_until; none for one that lives by heartbeats.
select refuse('validation-error', 'lease must be longer than zero', 'Got ' || :lease / 1e6 || ' s.')
where :lease <= 0;
select now() + min(:lease, s.max_lease) as v_until from settings as s;
