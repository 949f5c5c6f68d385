-- Writes down who may use what.
delete from pgjobs.installed_grants;
insert into pgjobs.installed_grants (kind, name, column_name, grantee, privilege, is_grantable)
select present.* from (grants_now) as present;
