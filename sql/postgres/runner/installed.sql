-- What the view of this name shows, for a run that was broken off before it made the view.
select m.number, m.name, m.checksum, c.checksum as code_checksum, c.grants_checksum, c.version
from pgjobs.migrations as m
left join pgjobs.installed_code as c on c.is_only;
