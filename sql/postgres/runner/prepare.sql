-- Opens a transaction of a run: no session setting can change what the files mean.
set local search_path = pg_catalog, pg_temp;
set local client_min_messages = warning;
set local statement_timeout = 0;
-- Functions may call functions of files that come later.
set local check_function_bodies = off;
