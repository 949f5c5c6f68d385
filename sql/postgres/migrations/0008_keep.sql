-- Jobs that stay when their last worker leaves: those a program declares, whose
-- tasks are to wait for it until it runs again.

alter table pgjobs.jobs add column keep boolean not null default false;
comment on column pgjobs.jobs.keep is 'Whether it stays when nobody serves it; else it is retired with its last worker.';
