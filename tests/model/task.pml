/* A task's life: claim, lease, token, renew, complete, fail and retry, release, sweep, cancel, retry by an operator.

   Each step below is what one SQL statement does to committed rows; a transaction that spans several holds its row
   locks in between. Time is a process of its own that ends leases whenever it likes; a worker may stand still for any
   while, which makes it a zombie, and die between any two steps.

   Seeded mistakes (-D…), each of which must be found:
     NO_TOKEN_CHECK   an acknowledgement is accepted for whoever's lease there is
     NO_END_CHECK     a lease is accepted after its end, before a sweep has found it
     NO_RECOUNT       a limit is counted before its turn is had, and not again
     NO_ROW_LOCK      a claim takes rows that another claim has taken
     NO_SWEEP         nobody ends lapsed leases
     REVIVES_OUTCOME  a forced cancellation does not look whether the task has ended while it waited
*/
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef TASKS
#define TASKS 2
#endif
#ifndef ATTEMPTS
#define ATTEMPTS 2
#endif
#ifndef LIMIT
#define LIMIT 1   /* 0: none */
#endif
#ifndef CANCELS
#define CANCELS 1
#endif
#ifndef RETRIES
#define RETRIES 1
#endif
#ifndef RELEASES
#define RELEASES 1
#endif

mtype = { none, completed, failed, cancelled };

byte ready[TASKS], scheduled[TASKS], leases[TASKS], outcomes[TASKS];  /* rows of each table */
byte token[TASKS], drawn[TASKS], attempt[TASKS];
bool lapsed[TASKS], stop_asked[TASKS];
byte locked[TASKS];           /* by which worker, in an open transaction */
mtype status[TASKS];
byte outcome_token[TASKS];
byte effects[TASKS];          /* written by the transaction that completes */
byte turn;                    /* the job's turn to count its limit */
byte running;                 /* committed leases */
byte ended;                   /* committed outcomes */
byte releases;
bool operator_is_done;

#define ALL_ENDED (ended == TASKS && operator_is_done)
#define IN_ONE_PLACE(t) (ready[t] + scheduled[t] + leases[t] + outcomes[t] == 1)

#ifdef NO_TOKEN_CHECK
#define HAS_TOKEN(t, mine) (leases[t] > 0)
#else
#define HAS_TOKEN(t, mine) (leases[t] > 0 && token[t] == mine)
#endif
#ifdef NO_END_CHECK
#define HOLDS(t, mine) HAS_TOKEN(t, mine)
#else
#define HOLDS(t, mine) (HAS_TOKEN(t, mine) && !lapsed[t])
#endif
#ifdef NO_ROW_LOCK
#define IS_FREE(t) true
#else
#define IS_FREE(t) (locked[t] == 0)
#endif

/* property: no acknowledgement without the current token, none after the lease's end */
inline accepted(t, mine) {
  assert(leases[t] == 1 && token[t] == mine);
  assert(!lapsed[t]);
}

inline end_lease(t) {
  leases[t]--; running--; token[t] = 0; lapsed[t] = false; stop_asked[t] = false;
}

inline end_task(t, how, by) {
  outcomes[t]++; ended++; status[t] = how; outcome_token[t] = by;
  assert(IN_ONE_PLACE(t));   /* property: one outcome, and a task in one place */
}

/* what _end_attempts decides */
inline end_attempt(t, by) {
  if
  :: stop_asked[t] -> end_lease(t); end_task(t, cancelled, by)
  :: !stop_asked[t] && attempt[t] < ATTEMPTS -> end_lease(t); scheduled[t]++; assert(IN_ONE_PLACE(t))
  :: else -> end_lease(t); end_task(t, failed, by)
  fi
}

/* One of the tasks for which it holds; blocks while there is none. */
#if TASKS == 2
#define PICK(t, HOLDS_FOR) if :: HOLDS_FOR(0) -> t = 0 :: HOLDS_FOR(1) -> t = 1 fi
#else
#define PICK(t, HOLDS_FOR) if :: HOLDS_FOR(0) -> t = 0 :: HOLDS_FOR(1) -> t = 1 :: HOLDS_FOR(2) -> t = 2 fi
#endif
#define ANY(t) (true)
#define CLAIMABLE(t) ((LIMIT == 0 || running < LIMIT) && ready[t] > 0 && IS_FREE(t))
#define LAPSED(t) (leases[t] > 0 && lapsed[t] && locked[t] == 0)
#define LEASED(t) (leases[t] > 0 && !lapsed[t])
#define SCHEDULED(t) (scheduled[t] > 0)

proctype worker(byte me) {
  byte t, mine, seen;

idle:
  mine = 0; seen = 0; t = 0;
  if
  :: ALL_ENDED -> goto done
  :: atomic { PICK(t, CLAIMABLE); seen = running }
  fi;

  /* The turn is waited for; whoever had it has committed by then. Where nothing is limited nobody takes turns. */
  atomic { (LIMIT == 0 || turn == 0) -> turn = (LIMIT -> me : 0) };
#ifndef NO_RECOUNT
  seen = running;
#endif
  atomic {
    if
    :: (LIMIT == 0 || seen < LIMIT) && ready[t] > 0 && IS_FREE(t) -> locked[t] = me
    :: else -> turn = 0; goto idle
    fi
  };
  atomic {
    if
    :: /* commit */
       ready[t]--; leases[t]++; running++;
       drawn[t]++; token[t] = drawn[t]; mine = drawn[t]; attempt[t]++;
       lapsed[t] = false; locked[t] = 0; turn = 0;
       assert(IN_ONE_PLACE(t));
       assert(LIMIT == 0 || running <= LIMIT)     /* property: a limit is never exceeded */
    :: /* killed before it */
       locked[t] = 0; turn = 0; goto idle
    fi
  };

holding:
  if
  :: /* killed, or told nothing: the lease lapses by itself */
     goto idle
  :: /* renew: a lease that holds is longer, one that does not stays lost */
     atomic {
       locked[t] == 0 ->
       if
       :: HOLDS(t, mine) -> accepted(t, mine)
       :: else -> goto idle
       fi
     };
     goto working
  :: goto working
  fi;

working:
  if
  :: goto idle
  :: atomic {  /* complete, together with an effect, in one transaction */
       locked[t] == 0 ->
       if
       :: HOLDS(t, mine) -> accepted(t, mine); locked[t] = me
       :: else -> goto idle
       fi
     };
     atomic {
       if
       :: end_lease(t); effects[t]++; end_task(t, completed, mine); locked[t] = 0;
          assert(effects[t] == 1)    /* property: the effect of a task is there once */
       :: locked[t] = 0; goto idle   /* killed: the effect is rolled back */
       fi
     };
     /* The answer was lost, and it is asked again. */
     assert(outcomes[t] == 1 && status[t] == completed && outcome_token[t] == mine)
  :: atomic {  /* fail */
       locked[t] == 0 ->
       if
       :: HOLDS(t, mine) -> accepted(t, mine); end_attempt(t, mine)
       :: else
       fi
     }
  :: atomic {  /* release: uses up no attempt */
       locked[t] == 0 && releases < RELEASES ->
       if
       :: HOLDS(t, mine) ->
          accepted(t, mine); releases++;
          if
          :: stop_asked[t] -> end_lease(t); end_task(t, cancelled, mine)
          :: else -> end_lease(t); attempt[t]--; ready[t]++; assert(IN_ONE_PLACE(t))
          fi
       :: else
       fi
     }
  fi;
  goto idle;

done:
  skip
}

proctype upkeep() {
  byte t;
  do
  :: ALL_ENDED -> break
#ifndef NO_SWEEP
  :: atomic { PICK(t, LAPSED); end_attempt(t, token[t]); t = 0 }
#endif
  :: atomic { PICK(t, SCHEDULED); scheduled[t]--; ready[t]++; assert(IN_ONE_PLACE(t)); t = 0 }
  od
}

proctype time() {
  byte t;
  do
  :: ALL_ENDED -> break
  :: atomic { PICK(t, LEASED); lapsed[t] = true; t = 0 }
  od
}

proctype operator() {
  byte t, cancels, retries;
  bool was_leased;
  do
  :: break
  :: cancels < CANCELS ->
     cancels++;
     atomic { PICK(t, ANY); was_leased = leases[t] > 0 };
     if
     :: atomic {  /* what nobody holds ends; a claim in flight is waited for */
          locked[t] == 0 ->
          if
          :: ready[t] > 0 -> ready[t]--; end_task(t, cancelled, 0)
          :: scheduled[t] > 0 -> scheduled[t]--; end_task(t, cancelled, 0)
          :: leases[t] > 0 -> stop_asked[t] = true
          :: else
          fi
        }
     :: atomic {  /* by force */
          locked[t] == 0 ->
          if
#ifdef REVIVES_OUTCOME
          :: was_leased -> end_lease(t); end_task(t, cancelled, 0)
          :: else
#else
          :: leases[t] > 0 -> end_lease(t); end_task(t, cancelled, 0)
          :: else
#endif
          fi
        }
     fi;
     t = 0; was_leased = false
  :: retries < RETRIES ->
     retries++;
     atomic {
       PICK(t, ANY);
       if
       :: outcomes[t] > 0 && status[t] != completed ->
          outcomes[t]--; ended--; status[t] = none; outcome_token[t] = 0; attempt[t] = 0; ready[t]++;
          assert(IN_ONE_PLACE(t))
       :: else
       fi;
       t = 0
     }
  od;
  operator_is_done = true
}

/* property: nothing is lost. Nobody waits for ever, so every run ends with all tasks ended; a run that cannot
   continue before that is an invalid end state, which Spin reports. */
init {
  byte i;
  atomic {
    for (i : 0 .. TASKS - 1) { ready[i] = 1; status[i] = none }
    for (i : 1 .. WORKERS) { run worker(i) }
    run upkeep(); run time(); run operator()
  }
}
