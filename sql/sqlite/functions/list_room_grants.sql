-- list_room_grants(of_role text = null, of_room text = null)
--
-- SQLite has no logins.
select refuse('validation-error', 'Logins that are confined to rooms need Postgres');
