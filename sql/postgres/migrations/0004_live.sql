-- New events are announced by NOTIFY when somebody has asked for it.

create sequence pgjobs.events_wanted_until minvalue 0 start 0;
comment on sequence pgjobs.events_wanted_until is 'Unix time until which the next event is announced by NOTIFY; 0 once it was.';
