-- get_reads(keys text[])
--
-- The answers kept under these keys, as far as there are any that have not expired.
select r.key, r.data
from json_each(:keys) as k
cross join reads as r on r.key = k.value and r.expires_at > now();
