-- store_read(key text, data bytea, lifetime interval)
--
-- Keeps an answer under a key and notifies `read` with the key's hash, for
-- whoever waits for it.
select refuse('validation-error', 'A read needs a key of at most 1000 characters and data')
where length(:key) > 1000;
insert into reads (key, data, expires_at)
values (:key, :data, now() + :lifetime)
on conflict (key) do update set data = excluded.data, expires_at = excluded.expires_at;
insert into notifications (at, channel, payload) values (now(), 'read', md5(:key));
select r.expires_at from reads as r where r.key = :key;
