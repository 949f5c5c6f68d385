-- list_room_grants(of_role text = null, of_room text = null)
--
-- None: SQLite has no logins.
select :of_role as role, :of_room as room, now() as granted_at where false;
