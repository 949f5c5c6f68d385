-- count_providers(room text = null)
--
-- How many providers list_providers would list.
select count(*) as total, 'eq' as relation
from providers as p
where :room is null or p.room in (:room, '@global');
