"""The verbs of a node, as its catalog knows them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pgjobs.schema.runner import Connection

HELPERS = ("_used_keys", "_unfinished", "_tell_jobs", "_take_over_jobs")
"""What a coordinator asks nodes beside verbs."""


@dataclass(frozen=True)
class Function:
    """A verb as a node has it."""

    name: str
    declared: str
    result: str
    arguments: tuple[tuple[str, str], ...]
    columns: tuple[str, ...]

    @property
    def values(self) -> list[str]:
        return [f"${place}" for place in range(1, len(self.arguments) + 1)]

    def called(self, **replaced: str) -> str:
        """The arguments as they came, but for some."""
        return ", ".join(
            replaced.get(name, value) for (name, _), value in zip(self.arguments, self.values, strict=True)
        )

    def fill(self, text: str) -> str:
        """`{name}` is the argument of that name."""
        places = dict(zip((name for name, _ in self.arguments), self.values, strict=True))
        return re.sub(r"\{(\w+)\}", lambda found: places[found[1]], text)


async def functions_of(connection: Connection, schema: str) -> list[Function]:
    """Every verb of a node, and the helpers that coordinators ask."""
    rows = await connection.fetch(_CATALOG, schema, list(HELPERS))
    columns = {row["relation"]: tuple(row["columns"]) for row in await connection.fetch(_COLUMNS, schema)}
    return [
        Function(
            row["name"],
            row["declared"],
            row["result"],
            tuple(zip(row["names"], row["types"], strict=True)),
            tuple(row["columns"]) or columns.get(row["row_type"], ()),
        )
        for row in rows
    ]


_CATALOG = """
select p.proname as name, pg_get_function_arguments(p.oid) as declared, pg_get_function_result(p.oid) as result,
  (select relname from pg_class as c where c.reltype = p.prorettype) as row_type,
  coalesce((select array_agg(coalesce(p.proargnames[i], '') order by i) from generate_series(1, p.pronargs) as i), '{}') as names,
  coalesce((
    select array_agg(format_type(t.oid, null) order by t.place)
    from unnest(p.proargtypes) with ordinality as t (oid, place)
  ), '{}') as types,
  coalesce((
    select array_agg(p.proargnames[m.place] order by m.place)
    from unnest(p.proargmodes) with ordinality as m (mode, place) where m.mode = 't'
  ), '{}') as columns
from pg_proc as p
where p.pronamespace = $1::regnamespace and p.prokind = 'f' and p.prorettype <> 'trigger'::regtype
  and (p.proname !~ '^_' or p.proname = any ($2::text[]))
order by p.proname
"""

_COLUMNS = """
select c.relname as relation, array_agg(a.attname::text order by a.attnum) as columns
from pg_class as c
join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
where c.relnamespace = $1::regnamespace and c.relkind in ('r', 'v')
group by c.relname
"""
