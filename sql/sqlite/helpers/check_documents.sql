-- Refuses :v_documents of which one is too large or nested too deep; :v_what names them.
select
  case
    when is_json_over(d.value, s.payload_limit)
      then refuse('payload-too-large', 'The ' || :v_what || ' exceeds ' || s.payload_limit || ' bytes')
    when json_depth(d.value) > 64
      then refuse('payload-invalid', 'The ' || :v_what || ' is nested deeper than 64 levels')
  end
from json_each(:v_documents) as d
cross join settings as s
where length(d.value) > 128;
