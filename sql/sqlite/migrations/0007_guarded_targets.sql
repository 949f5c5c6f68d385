-- What is cleaned up follows where runs wrote, so these rows change through verbs only, too.
create trigger only_verbs_add_targets before insert on targets
when not is_verb_running() begin
  select raise(abort, 'Targets are changed by verbs only');
end;
create trigger only_verbs_change_targets before update on targets
when not is_verb_running() begin
  select raise(abort, 'Targets are changed by verbs only');
end;
create trigger only_verbs_remove_targets before delete on targets
when not is_verb_running() begin
  select raise(abort, 'Targets are changed by verbs only');
end;
create trigger only_verbs_add_run_targets before insert on run_targets
when not is_verb_running() begin
  select raise(abort, 'Targets are changed by verbs only');
end;
create trigger only_verbs_change_run_targets before update on run_targets
when not is_verb_running() begin
  select raise(abort, 'Targets are changed by verbs only');
end;
create trigger only_verbs_remove_run_targets before delete on run_targets
when not is_verb_running() begin
  select raise(abort, 'Targets are changed by verbs only');
end;
