/* Children that wait for parents, with snapshots: who sees what when the acknowledgement of a parent and the submit of
   a child are open transactions at the same time, and resolvers release children.

   A statement takes its snapshot in one step and uses it in a later one. A transaction has no number (xid) before its
   first write. `xmax` of a snapshot is one more than the newest number that is over: transactions that run may have it
   or a greater one. `xmin` is the oldest number in use, or xmax where none below it is.

   A submit that blocks leaves a note; an acknowledgement that sees an edge leaves a mark. A resolver has the child's
   row lock, reads notes and marks, counts unfinished parents in a statement after that, and drops what it has read. A
   note is stamped with the number of a resolver that sees it and draws its number after that, and dropped by a snapshot
   in which every transaction below the stamp has ended: only then can nobody have missed the edge. There is no slow
   sweep here that would hide a mistake.

   Seeded mistakes (-D…), each of which must be found:
     NOTE_BY_SUBMIT    a note is dropped once the submit's own number is below xmin
     LOOK_FIRST        an acknowledgement looks for edges before it writes the outcome
     REPEATABLE_READ   an acknowledgement looks by the snapshot that its transaction began with
     STAMP_BY_OLD_XID  a note is stamped with the resolver's number, which it had before it saw the note
     STAMP_BY_XMAX     a note is stamped with the end of the snapshot that shows it
     STAMP_OWN_NOTE    a note is stamped by the submit that leaves it, as with a claim in the same transaction
     GATE_AFTER_COUNT  whether a note may go is judged by a newer snapshot than the count
     MARKS_TAKEN_LATE  marks are dropped that came after the count
     MARK_WITHOUT_LOCK marks of a child that another resolver has locked are dropped
     NO_NOTE           a submit leaves no note
*/
#ifndef PARENTS
#define PARENTS 2
#endif
#ifndef CHILDREN
#define CHILDREN 1
#endif
#ifndef RESOLVERS
#define RESOLVERS 2
#endif
#ifndef PASSES
#define PASSES 2
#endif

#define ALL ((1 << PARENTS) - 1)
#define FIRST_CHILD PARENTS
#define FIRST_RESOLVER (PARENTS + CHILDREN)
#define TRANSACTIONS (PARENTS + CHILDREN + RESOLVERS)

byte next_xid = 1;
byte newest_over;             /* number of those that have ended */
byte xid[TRANSACTIONS];       /* of open transactions, 0 before the first write */
byte ended;                   /* parents whose outcome is committed */
byte submitted;               /* children that are committed and blocked */
byte released;
byte marks[CHILDREN];         /* by which parents */
bool note[CHILDREN];
byte stamp[CHILDREN], submit_xid[CHILDREN];
bool locked[CHILDREN];
byte unfinished = PARENTS + CHILDREN;   /* processes that have not ended */
byte early = RESOLVERS;                 /* resolvers that have passes left to run among the others */

inline get_xid(me) {
  d_step {
    if
    :: xid[me] == 0 -> xid[me] = next_xid; next_xid++
    :: else
    fi
  }
}

inline give_up_xid(me) {
  d_step {
    if
    :: xid[me] > newest_over -> newest_over = xid[me]
    :: else
    fi;
    xid[me] = 0
  }
}

inline get_xmin(into) {
  d_step {
    into = newest_over + 1;
    for (i : 0 .. TRANSACTIONS - 1) {
      if
      :: xid[i] > 0 && xid[i] < into -> into = xid[i]
      :: else
      fi
    }
  }
}

proctype parent(byte me) {
  byte edges, c;
  bool again;
begin:
#ifdef REPEATABLE_READ
  edges = submitted;
#endif
#ifdef LOOK_FIRST
  edges = submitted;
#endif
  get_xid(me);                 /* the outcome is written, */
#ifndef REPEATABLE_READ
#ifndef LOOK_FIRST
  edges = submitted;           /* and the next statement looks for edges. */
#endif
#endif
  if
  :: atomic {
       ended = ended | (1 << me); give_up_xid(me);
       for (c : 0 .. CHILDREN - 1) {
         if
         :: edges & (1 << c) -> marks[c] = marks[c] | (1 << me)
         :: else
         fi
       };
       unfinished--
     }
  :: atomic { !again -> again = true; give_up_xid(me); edges = 0 }; goto begin   /* rolled back, and done again */
  fi
}

proctype child(byte me) {
  byte seen, c = me - FIRST_CHILD, number;
  if
  :: seen = ended; get_xid(me)
  :: get_xid(me); seen = ended
  fi;
  atomic {
    number = xid[me]; give_up_xid(me);
    if
    :: seen == ALL -> skip                  /* all parents have ended: the child is in the queue at once */
    :: seen != ALL ->
       submitted = submitted | (1 << c);
#ifndef NO_NOTE
       note[c] = true;
#endif
#ifdef STAMP_OWN_NOTE
       stamp[c] = number;
#endif
       submit_xid[c] = number
    :: skip                                  /* rolled back */
    fi;
    unfinished--
  }
}

inline pass(me) {
  byte c = 0;
  atomic {
    do
    :: c < CHILDREN - 1 -> c++
    :: break
    od;
    if
    :: (submitted & (1 << c)) && !(released & (1 << c)) && !locked[c] && (note[c] || marks[c] > 0) -> locked[c] = true
#ifdef MARK_WITHOUT_LOCK
    :: locked[c] -> marks[c] = 0; goto passed
#endif
    :: else -> goto passed
    fi
  };
  /* What is to be done, by one snapshot; */
  atomic { read_marks = marks[c]; has_note = note[c]; number = stamp[c]; new_stamp = 0; get_xmin(xmin) };
#ifdef STAMP_BY_XMAX
  new_stamp = newest_over + 1;
#else
#ifdef STAMP_BY_OLD_XID
  get_xid(me); new_stamp = xid[me];
#else
  if
  :: xid[me] == 0 -> get_xid(me); new_stamp = xid[me]
  :: else
  fi;
#endif
#endif
  get_xid(me);
  /* the count, by the next. */
  atomic { seen = ended };
#ifdef GATE_AFTER_COUNT
  atomic { get_xmin(xmin) };
#endif
  if
  :: atomic {
       if
       :: seen == ALL ->
          assert(ended == ALL);              /* property: no child before its parents */
          released = released | (1 << c); note[c] = false; marks[c] = 0
       :: else ->
#ifdef MARKS_TAKEN_LATE
          marks[c] = 0;
#else
          marks[c] = marks[c] & ~read_marks;
#endif
          if
#ifdef NOTE_BY_SUBMIT
          :: has_note && submit_xid[c] < xmin -> note[c] = false
#else
          :: has_note && number > 0 && number <= xmin -> note[c] = false
#endif
          :: has_note && number == 0 && stamp[c] == 0 -> stamp[c] = new_stamp
          :: else
          fi
       fi;
       locked[c] = false; give_up_xid(me)
     }
  :: atomic { locked[c] = false; give_up_xid(me) }   /* rolled back */
  fi;
passed:
  atomic { read_marks = 0; has_note = false; number = 0; new_stamp = 0; xmin = 0; seen = 0; c = 0 }
}

proctype resolver(byte me) {
  byte read_marks, number, xmin, new_stamp, seen, passes, i;
  bool has_note;
  do
  :: passes < PASSES ->
     passes++;
     /* A claim in somebody's transaction may have written before, and so have its number. */
     if
     :: get_xid(me)
     :: skip
     fi;
     pass(me);
     give_up_xid(me)
  :: atomic { early--; break }
  od
}

/* property: no child is blocked for ever. When all others have ended, whatever is left of notes and marks must be
   enough to release every child whose parents have ended. */
init {
  byte i, c;
  atomic {
    for (i : 0 .. PARENTS - 1) { run parent(i) }
    for (i : FIRST_CHILD .. FIRST_RESOLVER - 1) { run child(i) }
    for (i : FIRST_RESOLVER .. TRANSACTIONS - 1) { run resolver(i) }
  };
  unfinished == 0 && early == 0;
  for (c : 0 .. CHILDREN - 1) {
    assert(!(submitted & (1 << c)) || (released & (1 << c)) || note[c] || marks[c] > 0)
  }
}
