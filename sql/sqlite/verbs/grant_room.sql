-- grant_room(role text, room text)
--
-- SQLite has no logins.
select refuse('validation-error', 'Logins that are confined to rooms need Postgres');
