"""Writes the functions of a coordinator from the catalog of a node: the same names, arguments, defaults and columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pgjobs.errors import MigrationFailed
from pgjobs.schema.release import sql_directory
from pgjobs.schema.router.bodies import CAUGHT, PARTS, asked, body_of, by_hand
from pgjobs.schema.router.catalog import Function
from pgjobs.schema.router.rules import (
    RULES,
    ByHand,
    Everywhere,
    Find,
    Here,
    Merge,
    OfJob,
    OfTask,
    OfTasks,
    Rule,
    Submit,
    Take,
)

_FILES = ("tables.sql", "answers.sql", "places.sql", "jobs.sql", "members.sql")


def router_sql(functions: Sequence[Function]) -> str:
    """Everything a coordinator has beside what every queue has."""
    verbs = {function.name for function in functions if not function.name.startswith("_")}
    if unknown := sorted(verbs - set(RULES)):
        raise MigrationFailed(
            f"No rule says how a coordinator asks for {', '.join(unknown)}",
            hint="See pgjobs.schema.router.rules",
        )
    directory = sql_directory("router")
    parts = [(directory / name).read_text() for name in _FILES]
    for function in functions:
        rule = RULES.get(function.name, ByHand())
        if not isinstance(rule, Here):
            parts += [_of_node(function), *_of_all(function, rule), *_public(function, rule)]
    by_name = {function.name: function for function in functions}
    for name, (verb, extra) in PARTS.items():
        parts.append(by_hand(by_name[verb], f"pgjobs_router.{name}", *extra))
    parts += [
        by_hand(by_name[verb], f"pgjobs.{verb}", f"{verb}.plpgsql")
        for verb, rule in RULES.items()
        if isinstance(rule, ByHand) and verb in by_name
    ]
    return "\n".join(parts)


def hidden_views(views: Iterable[tuple[str, Sequence[tuple[str, str]]]]) -> str:
    """Views of tables, which are empty on a coordinator, say so instead of showing nothing."""
    return "\n".join(
        f"create or replace view pgjobs.{name} as select "
        + ", ".join(f"null::{kind} as {column}" for column, kind in columns)
        + f" where pgjobs_router.refuse_view('{name}');"
        for name, columns in views
    )


def _of_node(function: Function) -> str:
    arguments = "".join(f", a{place} {kind}" for place, (_, kind) in enumerate(function.arguments, 1))
    values = ", ".join(f"${place}" for place in range(3, 3 + len(function.arguments)))
    call = f"pgjobs.{function.name}({values})"
    result = function.result
    if function.columns:
        select = (
            "select zz_v.* from (select pg_catalog.set_config('pgjobs.rooms', coalesce($2, ''), true) as zz_r) as zz_c"
            f" cross join lateral (select zz_f.* from {call} as zz_f where zz_c.zz_r is not null offset 0) as zz_v"
        )
    else:
        select = f"select {call}::text as zz_v"
        result = "text"
    return (
        f"drop function if exists pgjobs_router.node_{function.name}(integer, text{''.join(f', {t}' for _, t in function.arguments)});\n"
        f"create function pgjobs_router.node_{function.name}(to_node integer, of_rooms text{arguments})\n"
        f"returns {result} language plproxy as $route$\n"
        f"connect pgjobs_router.address(to_node);\n{select};\n$route$;\n"
    )


def _of_all(function: Function, rule: Rule) -> list[str]:
    """A loop over nodes, for what is put together."""
    if not isinstance(rule, Merge | Everywhere) and function.name not in _ALSO_OF_ALL:
        return []
    is_vital = isinstance(rule, Everywhere) and rule.is_vital
    caught = (
        "perform pgjobs_router.retell(sqlstate, sqlerrm, v_detail, v_hint, v_node);"
        if is_vital
        else "perform pgjobs_router.go_on_without(sqlstate, sqlerrm, v_detail, v_hint, v_node);"
    )
    patient = isinstance(rule, Everywhere) or (isinstance(rule, Merge) and rule.is_patient)
    order = function.fill(rule.order) if isinstance(rule, Everywhere) else "pgjobs_router.numbers()"
    if patient:
        caught = (
            "if sqlstate in ('PJ001', 'PJ003') then v_refusal := sqlerrm; v_state := sqlstate; v_refused := v_node;"
            f" v_said := v_detail; v_advice := v_hint; else {caught} end if;"
        )
    after = (
        "\n  if not v_found and v_refusal is not null then\n"
        "    perform pgjobs_router.retell(v_state, v_refusal, v_said, v_advice, v_refused);\n  end if;"
        if patient
        else ""
    )
    skipped = (
        ""
        if is_vital
        else "    if pgjobs_router.is_away(v_node) then\n      perform pgjobs_router.name_missing(v_node);\n"
        "      continue;\n    end if;\n"
    )
    body = (
        f"  for v_node in select n.number from {order} as n (number) loop\n{skipped}    begin\n      "
        f"{asked(function, 'v_node', **_whole_page(function))}\n      v_found := true;\n"
        f"    exception when others then\n      {CAUGHT}\n      {caught}\n    end;\n  end loop;{after}"
    )
    declarations = (
        "  v_node integer;\n  v_found boolean := false;\n  v_refusal text;\n"
        "  v_refused integer;\n  v_state text;\n  v_said text;\n  v_advice text;\n"
    )
    return [body_of(function, f"pgjobs_router.all_{function.name}", function.declared, body, declarations)]


_ALSO_OF_ALL = ("list_cleanups",)


def _whole_page(function: Function) -> dict[str, str]:
    """From each node what the page could be made of."""
    names = [name for name, _ in function.arguments]
    if "page_offset" not in names:
        return {}
    size, offset = function.fill("{page_size}"), function.fill("{page_offset}")
    return {
        "page_size": f"case when {size} between 0 and 500 and {offset} >= 0 then least({size} + {offset}, 500) else {size} end",
        "page_offset": f"least({offset}, 0)",
    }


def _public(function: Function, rule: Rule) -> list[str]:
    """The verb itself."""
    if isinstance(rule, OfTasks):
        return _split(function, rule)
    if isinstance(rule, Take):
        return [_taken(function, rule)]
    if isinstance(rule, Submit):
        return [_submitted(function, rule)]
    if isinstance(rule, Find):
        return [_found(function)]
    return [] if isinstance(rule, ByHand) else [_plain(function, rule)]


def _plain(function: Function, rule: Rule) -> str:
    name = f"pgjobs.{function.name}"
    if isinstance(rule, Merge):
        return body_of(function, name, function.declared, _merged(function, rule))
    if isinstance(rule, Everywhere):
        return body_of(function, name, function.declared, _repeated(function, rule))
    node = "pgjobs_router.home()"
    if isinstance(rule, OfTask):
        node = f"pgjobs_router.node_of({function.fill(rule.number)})"
    elif isinstance(rule, OfJob):
        node = function.fill("coalesce((pgjobs_router.known({job})).home, pgjobs_router.any_node())")
    body = (
        f"  v_node := {node};\n  {asked(function, 'v_node')}\nexception when others then\n  {CAUGHT}\n"
        "  perform pgjobs_router.retell(sqlstate, sqlerrm, v_detail, v_hint, v_node);"
    )
    return body_of(function, name, function.declared, body, "  v_node integer;\n")


def _repeated(function: Function, rule: Everywhere) -> str:
    everybody = f"pgjobs_router.all_{function.name}({function.called()})"
    if not function.columns:
        return f"  perform {everybody};"
    if rule.answer:
        return f"  return query select {rule.answer} from {everybody} as r;"
    return f"  return query select * from {everybody} limit 1;"


def _merged(function: Function, rule: Merge) -> str:
    """One statement over all answers; nodes are asked for no more than 500 rows each."""
    columns = rule.columns or ", ".join(
        rule.instead.get(column, f"r.{column}") for column in function.columns
    )
    shallow = ""
    if "page_offset" in (name for name, _ in function.arguments):
        shallow = function.fill(
            "  if {page_offset} > 0 and {page_size} + {page_offset} > 500 then\n"
            "    perform pgjobs._refuse('validation-error', 'Behind a coordinator a page ends within the first 500 rows', null,"
            " 'Page on by cursor, or narrow the list.');\n  end if;\n"
        )
    return shallow + (
        "  return query with whole as materialized (select q.*, row_number() over () as zz_place"
        f" from pgjobs_router.all_{function.name}({function.called()}) as q)"
        f" select {function.fill(columns)} from whole as r {function.fill(rule.then)};"
    )


def _split(function: Function, rule: OfTasks) -> list[str]:
    names = [name for name, _ in function.arguments]
    first = function.fill("{task_ids}")
    ids = (
        f"coalesce({first}, array(select pgjobs.task_id(u.uuid) from unnest({function.fill('{task_uuids}')})"
        " with ordinality as u (uuid, place) order by u.place))"
        if "task_uuids" in names
        else first
    )
    # A null array stays one; what does not fit together goes whole to one node, which refuses it.
    parts = {
        name: f"case when {function.fill('{' + name + '}')} is not null then array(select ({function.fill('{' + name + '}')})[p.place]"
        " from unnest(v_places) with ordinality as p (place, n) order by p.n) end"
        for name in rule.arrays
    }
    odd = " or ".join(
        f"cardinality({function.fill('{' + name + '}')}) <> cardinality(v_ids)" for name in rule.arrays
    )
    both = " or ({task_ids} is not null and {task_uuids} is not null)" if "task_uuids" in names else ""
    inner = f"""  v_ids := {ids};
  for v_node, v_places in
    select o.node, array_agg(o.place order by o.place)
    from (select pgjobs_router.node_of(i.id) as node, i.place::integer as place from unnest(v_ids) with ordinality as i (id, place)) as o
    group by o.node
  loop
    begin
      {asked(function, "v_node", **parts)}
    exception when others then
      {CAUGHT}
      if not pgjobs_router.says_away(sqlstate, sqlerrm) then
        perform pgjobs_router.retell(sqlstate, sqlerrm, v_detail, v_hint, v_node);
      end if;
      -- The others are told first; who repeats the call gets the same answers for them.
      v_state := sqlstate;
      v_message := sqlerrm;
      v_missing := v_node;
    end;
  end loop;
  if v_missing is not null then
    perform pgjobs_router.retell(v_state, v_message, null, null, v_missing);
  end if;"""
    outer = f"""  v_ids := {ids};
  v_nodes := array(select distinct pgjobs_router.node_of(i.id) from unnest(v_ids) as i (id));
  if cardinality(v_nodes) > 1 and not coalesce({odd}{function.fill(both)}, false) then
    return query select r.* from pgjobs_router.parts_{function.name}({function.called()}) as r
    order by array_position(v_ids, r.{rule.by});
    return;
  end if;
  v_node := coalesce(v_nodes[1], pgjobs_router.home());
  begin
    {asked(function, "v_node")}
  exception when others then
    {CAUGHT}
    perform pgjobs_router.retell(sqlstate, sqlerrm, v_detail, v_hint, v_node);
  end;"""
    declarations = (
        "  v_ids bigint[];\n  v_nodes integer[];\n  v_node integer;\n  v_places integer[];\n  v_state text;\n  v_message text;\n"
        "  v_missing integer;\n"
    )
    return [
        body_of(function, f"pgjobs_router.parts_{function.name}", function.declared, inner, declarations),
        body_of(function, f"pgjobs.{function.name}", function.declared, outer, declarations),
    ]


def _taken(function: Function, rule: Take) -> str:
    wanted = function.fill("{" + rule.quantity + "}") if rule.quantity else "1"
    replaced = {rule.quantity: "v_left"} if rule.quantity else {}
    body = f"""  for v_node in select n.number from pgjobs_router.numbers() as n (number) order by random() loop
    if pgjobs_router.is_away(v_node) then
      perform pgjobs_router.name_missing(v_node);
      continue;
    end if;
    begin
      {asked(function, "v_node", **replaced)}
      get diagnostics v_got = row_count;
      v_heard := true;
      v_left := v_left - v_got;
      v_some := v_some or v_got > 0;
    exception when others then
      {CAUGHT}
      if sqlstate = 'PJ003' then
        v_message := sqlerrm;
        v_unknown := v_node;
      elsif v_some then
        -- What was given out is the caller's, whatever another node says.
        raise warning 'Node %: %', v_node, sqlerrm;
        return;
      else
        perform pgjobs_router.go_on_without(sqlstate, sqlerrm, v_detail, v_hint, v_node);
      end if;
    end;
    exit when v_left <= 0;
  end loop;
  if not v_heard and v_message is not null then
    perform pgjobs_router.retell('PJ003', v_message, v_detail, v_hint, v_unknown);
  elsif not v_heard then
    perform pgjobs_router.retell('XX000', 'PL/Proxy function {function.name}: connecting to any node', null, null, null);
  end if;"""
    declarations = (
        "  v_node integer;\n  v_got integer;\n  v_heard boolean := false;\n  v_some boolean := false;\n  v_message text;\n"
        f"  v_unknown integer;\n  v_left integer := {wanted};\n"
    )
    return body_of(function, f"pgjobs.{function.name}", function.declared, body, declarations)


def _submitted(function: Function, rule: Submit) -> str:
    body = f"""  perform pgjobs_router.open_submit();
  v_settled := pgjobs_router.settled_place({function.fill(rule.place)});
  loop
    v_node := coalesce(pgjobs_router.place_of_key({function.fill(rule.place)}), v_settled, pgjobs_router.any_node());
    begin
      {asked(function, "v_node")}
      return;
    exception when others then
      {CAUGHT}
      v_tried := v_tried + 1;
      perform pgjobs_router.try_another(sqlstate, sqlerrm, v_detail, v_hint, v_node, v_settled, v_tried);
    end;
  end loop;"""
    return body_of(
        function, f"pgjobs.{function.name}", function.declared, body,
        "  v_settled integer;\n  v_node integer;\n  v_tried integer := 0;\n",
    )  # fmt: skip


def _found(function: Function) -> str:
    body = f"""  for v_node in select n.number from pgjobs_router.numbers() as n (number) loop
    begin
      {asked(function, "v_node")}
      if found then
        return;
      end if;
    exception when others then
      {CAUGHT}
      if pgjobs_router.says_away(sqlstate, sqlerrm) or sqlstate in ('PJ001', 'PJ002', 'PJ003', 'PJ021', 'PJ024') then
        -- It may be on the node that is away: that outweighs that the others do not have it.
        if v_state is null or pgjobs_router.says_away(sqlstate, sqlerrm) then
          v_state := sqlstate;
          v_message := sqlerrm;
          v_said := v_detail;
          v_advice := v_hint;
          v_missing := v_node;
        end if;
      else
        perform pgjobs_router.retell(sqlstate, sqlerrm, v_detail, v_hint, v_node);
      end if;
    end;
  end loop;
  if v_state is not null then
    perform pgjobs_router.retell(v_state, v_message, v_said, v_advice, v_missing);
  end if;"""
    declarations = "  v_node integer;\n  v_state text;\n  v_message text;\n  v_said text;\n  v_advice text;\n  v_missing integer;\n"
    return body_of(function, f"pgjobs.{function.name}", function.declared, body, declarations)
