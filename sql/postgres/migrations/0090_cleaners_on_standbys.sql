-- Standbys hold no unlogged tables, and lists of cleanups ask who cleans up. One row for
-- each process that does, written once a minute.
alter table pgjobs.cleaners set logged;
