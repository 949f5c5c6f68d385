-- A queue may be one of several nodes of a cluster. Task numbers say which: node 0, which
-- every queue is until it is told otherwise, begins at 1, node 1 at 2^44, node 2 at 2^45.

create table pgjobs.node (
  is_only boolean primary key default true,
  number integer not null default 0,
  constraint node_is_one_row check (is_only),
  -- The largest task number stays below 2^53, which every program that reads JSON can tell from its neighbours.
  constraint nodes_are_numbered check (number between 0 and 511)
);
insert into pgjobs.node default values;

comment on table pgjobs.node is 'Which node of a cluster this queue is, one row. Set by `migrate --node`.';
comment on column pgjobs.node.is_only is 'Always true: there is one row.';
comment on column pgjobs.node.number is 'Its number; 0 for a queue that is no part of a cluster.';
