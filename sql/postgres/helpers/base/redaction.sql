-- What may be told: the one place that decides what leaves in errors, events,
-- views and answers. `src/pgjobs/drivers/redaction.py` says the same for SQLite and logs;
-- a test compares them.

-- Whether a text, or a document's, has nothing in it that any rule below looks for. Most
-- have not, and asking costs a tenth of the rules.
create function pgjobs._is_harmless(message text)
returns boolean
language sql immutable
return message !~* '://|[^ \t\n\r\f\v"''<>/@]@|pass|pwd|secret|token|key|signature|credential|authorization|bearer|basic|pg[jlc]_|eyJ';

comment on function pgjobs._is_harmless is
  'Whether a text gives no access for certain. Example: select pgjobs._is_harmless(''No route to host'')';

-- A text without what gives access: URLs lose user, password, query and fragment
-- (a URL whose password cannot be told from its path is hidden as a whole), and
-- what follows words like password= or Authorization: goes.
--
-- A text that is too long is cut first, and what may be the beginning of a URL or
-- a token goes with the rest: a cut must not leave half a password that is no
-- longer known for one.
create function pgjobs._redact(message text)
returns text
language plpgsql immutable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_text text := _redact.message;
begin
  if length(v_text) > 8000 then
    v_text := regexp_replace(left(v_text, 7999),
      '(^|[ \t\n\r\f\v])([^ \t\n\r\f\v]{0,99}|[^ \t\n\r\f\v]*[:@/?#=][^ \t\n\r\f\v]*)$', '\1…');
  end if;
  if pgjobs._is_harmless(v_text) then
    return v_text;
  end if;
  v_text := regexp_replace(v_text,
    '([A-Za-z][A-Za-z0-9+.-]*://)[^ \t\n\r\f\v"''<>/?#\\@]*@[^ \t\n\r\f\v"''<>/?#\\]*[/?#\\][^ \t\n\r\f\v"''<>]*@[^ \t\n\r\f\v"''<>]*',
    '\1…', 'g');
  v_text := regexp_replace(v_text,
    '([A-Za-z][A-Za-z0-9+.-]*://)[^ \t\n\r\f\v"''<>/?#\\@:\[]*:[0-9]*[^ \t\n\r\f\v"''<>/?#\\@0-9][^ \t\n\r\f\v"''<>/?#\\@]*[/?#\\]'
    '[^ \t\n\r\f\v"''<>]*@[^ \t\n\r\f\v"''<>]*', '\1…', 'g');
  v_text := regexp_replace(v_text,
    '([A-Za-z][A-Za-z0-9+.-]*://)[^ \t\n\r\f\v"''<>/?#\\]*[/\\][^ \t\n\r\f\v"''<>?#]*[^ \t\n\r\f\v"''<>?#/]@[^ \t\n\r\f\v"''<>]*',
    '\1…', 'g');
  v_text := regexp_replace(v_text, '([A-Za-z][A-Za-z0-9+.-]*://)[^ \t\n\r\f\v"''<>/?#\\]*@', '\1', 'g');
  v_text := regexp_replace(v_text,
    '([A-Za-z][A-Za-z0-9+.-]*://[^ \t\n\r\f\v"''<>?#]*)[?#][^ \t\n\r\f\v"''<>]*', '\1', 'g');
  v_text := regexp_replace(v_text,
    '(^|[ \t\n\r\f\v"''<>(=,;{\[])[^ \t\n\r\f\v"''<>/@:(=,;{\[]+:[^ \t\n\r\f\v"''<>/@]+@(?=[A-Za-z0-9\[])', '\1', 'g');
  v_text := regexp_replace(v_text,
    '((proxy-)?authorization["'']?[ \t]*[:=][ \t]*["'']?)([a-z]+[ \t]+)?[^ \t\n\r\f\v"''<>,;]+', '\1…', 'gi');
  v_text := regexp_replace(v_text, '(bearer|basic|token)[ \t]+[a-z0-9._~+/=-]{16,}', '\1 …', 'gi');
  v_text := regexp_replace(v_text,
    '((pass(word|wd|phrase)|pwd|secret|token|(api|access)[_-]?key|signature|credential)s?["'']?[ \t]*[:=][ \t]*)'
    '("[^"]*"?|''[^'']*''?|[^ \t\n\r\f\v"''<>&,;]+)', '\1…', 'gi');
  v_text := regexp_replace(v_text, '(pg[jlc]_)[0-9a-f]{8,}', '\1…', 'g');
  return regexp_replace(v_text, 'eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]*)?', '…', 'g');
end
$$;

comment on function pgjobs._redact is
  'A text without credentials. Example: select pgjobs._redact(''cannot reach https://user:secret@host/dav?token=1'')';

-- The same in one line of at most 500 characters.
create function pgjobs._redact_line(message text)
returns text
language plpgsql immutable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
begin
  return left(
    trim(regexp_replace(pgjobs._redact(_redact_line.message), '[\u0001-\u0020\u007f-\u00a0\u2028\u2029]+', ' ', 'g')), 500
  );
end
$$;

comment on function pgjobs._redact_line is
  'A text without credentials, in one short line. Example: select pgjobs._redact_line(E''first\nsecond'')';

-- A document with every text redacted, and without the values of members whose
-- names say that they are secret. The name of a secret is none.
create function pgjobs._redact_document(document jsonb)
returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pgjobs, pg_temp
as $$
declare
  v_text text := document::text;
begin
  -- Neither is a long text without anything to hide cut: whoever gave it reads it back.
  if pgjobs._is_harmless(v_text) then
    return document;
  end if;
  case jsonb_typeof(document)
    when 'string' then
      v_text := document #>> '{}';
      return case when pgjobs._is_harmless(v_text) then document else to_jsonb(pgjobs._redact(v_text)) end;
    when 'array' then
      return (
        select coalesce(jsonb_agg(pgjobs._redact_document(e.item) order by e.place), '[]')
        from jsonb_array_elements(document) with ordinality as e (item, place)
      );
    when 'object' then
      return (
        select coalesce(jsonb_object_agg(m.name, case
          when m.name ~* '(pass(word|wd|phrase)|pwd|secret|token|(api|access)[_-]?key|signature|credential|authorization)s?$'
            then to_jsonb('…'::text)
          else pgjobs._redact_document(m.value)
        end), '{}')
        from jsonb_each(document) as m (name, value)
      );
    else
      return document;
  end case;
end
$$;

comment on function pgjobs._redact_document is
  'A document without credentials. Example: select pgjobs._redact_document(''{"base_url": "https://user:secret@host/"}'')';

-- A payload as every reader is shown it. Only whoever claims its task gets it as it is.
-- Views pass the setting in, because their readers may not look it up.
create function pgjobs._shown_payload(payload jsonb, show_secrets boolean)
returns jsonb
language sql immutable
return case
  when show_secrets or pgjobs._is_harmless(payload::text) then payload
  else pgjobs._redact_document(payload)
end;

comment on function pgjobs._shown_payload is
  'A payload as readers are shown it. Example: select pgjobs._shown_payload(''{"password": "hunter2"}'', false)';
