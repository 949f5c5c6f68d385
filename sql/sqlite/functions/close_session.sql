-- close_session(session text)
--
-- Signs out, at once and for good; says whether there was anybody.
select count(*) > 0 as v_is_closed from sessions where session_hash = sha256(:session);
delete from sessions where session_hash = sha256(:session);
select :v_is_closed as is_closed;
