-- unmark_waiting(mark bigint)
--
-- Takes a wish to be woken back: a mark left behind takes the wake-up of somebody else.
delete from waiting where id = :mark returning id as unmarked;
