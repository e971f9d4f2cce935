// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * An operation that is stopped after any of its instructions stops nobody, and is still one
 * operation.
 *
 *	suspend [STOPS [CASE]]
 *
 * STOPS a case, evenly spread; 0, after every instruction. Only cases with the words CASE in their
 * name, or, after a "=", of that name.
 *
 * The processor's trap flag stops the operation after each instruction. Then fork() makes a
 * process in which it stands still, while others use the table, from the signal handler: as the
 * table keeps nothing per thread, that is as good as another thread. Then the operation goes on and
 * ends, or never does. What everybody was told has to be explained by some order. x86-64 only.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "keys.h"
#include "linear.h"

#if defined(__x86_64__)

#define TRAP_FLAG  0x100
#define MANY	   250ul /* keys of others that make any leaf here split */
#define FEW	   30ul
#define OTHERS	   100000ul /* their numbers begin here */
#define FIRST_TIME 1	    /* the value that the key has at first, or is inserted with */

/*
 * What others do meanwhile: l look up, r remove, i insert the key again, if they removed it; g add
 * many keys; s take them out again; f add a few, for slots that got empty; e take all there was
 * out, the key excepted; ! it ends here, the operation never goes on.
 */
static const char *const while_inserting[] = {"lgl", "rl", "lgsl", "grl", "lel", "lgsl!", "rgsl!"};
static const char *const while_removing[] = {"lgl",  "rl",    "ril",   "grgil",
					     "lesl", "lgsl!", "rigsl!"};
static const char *const while_looking[] = {"r", "ri", "rf", "g", "grgi", "es", "gs"};

/* In which table */
static const struct state {
	const char *name;
	enum call call;
	bool in;	   /* the key is there */
	unsigned long had; /* keys that the leaf had once */
	unsigned long has; /* keys that it has */
	bool on_the_verge; /* more keys until this call replaces a leaf; or fewer */
} states[] = {
	{"first insert", INSERT, false, 0, 0, false},
	{"insert", INSERT, false, 0, 50, false},
	{"insert that doubles a leaf", INSERT, false, 0, 90, true},
	{"insert that splits a leaf", INSERT, false, 0, 130, true},
	{"remove", REMOVE, true, 0, 50, false},
	{"remove of the last one", REMOVE, true, 0, 0, false},
#ifndef HANDLE_TABLE_USE_LIMIT /* all in one row: no bucket gets empty in time */
	{"remove that halves a leaf", REMOVE, true, 180, 45, true},
#endif
	{"remove that empties a leaf", REMOVE, true, 300, 0, true},
	{"remove of an absent key", REMOVE, false, 0, 50, false},
	{"lookup", LOOKUP, true, 0, 50, false},
	{"lookup in a full leaf", LOOKUP, true, 0, 92, false},
	{"lookup of an absent key", LOOKUP, false, 0, 92, false},
};

static struct handle_table table;
static const struct state *state;
static const char *others;
static uintptr_t key;
static unsigned long before; /* keys [0, before) are in, but for the key */
static unsigned long steps, next_stop, stride;
static unsigned long stops, bad_stops;
static struct history history;
static bool grown; /* the others' many keys are in */
static uint64_t ticks;
static volatile sig_atomic_t stopped; /* we are the process that was stopped */

static struct event *note(enum call call, unsigned int thread)
{
	struct event *event = &history.event[history.events++];

	*event = (struct event){.call = call, .thread = thread, .called = ++ticks};
	event->returned = NEVER;
	return event;
}

static void do_call(struct event *event)
{
	uint64_t record[HANDLE_TABLE_MAX_WORDS];
	bool found = false;
	unsigned int i;

	if (event->call == INSERT) {
		for (i = 0; i < HANDLE_TABLE_MAX_WORDS; i++)
			record[i] = event->value * (i + 1);
		if (handle_table_insert(&table, key, record))
			_exit(3);
	} else if (event->call == LOOKUP) {
		found = handle_table_lookup(&table, key, record);
	} else {
		found = handle_table_remove(&table, key, record);
	}
	for (i = 0; found && i < handle_table_words(&table); i++)
		if (record[i] != record[0] * (i + 1))
			_exit(4);
	if (found)
		event->value = record[0];
	/* At last: if we are stopped before, it has not returned */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	event->returned = ++ticks;
}

/* All but the key; so many of them are as they should be */
static unsigned long for_all(unsigned long (*function)(struct handle_table *, unsigned long,
						       unsigned long))
{
	unsigned long number = (key - key_of(0)) >> 12;

	if (number >= before)
		return function(&table, 0, before);
	return function(&table, 0, number) + function(&table, number + 1, before);
}

static unsigned long all(void)
{
	return before - ((key - key_of(0)) >> 12 < before);
}

static void must(bool condition, int status)
{
	if (!condition)
		_exit(status);
}

/* Returns whether the operation is to go on */
static bool others_work(void)
{
	bool emptied = false, removed = false;
	const char *c;

	must(for_all(count_keys) == all(), 5);
	for (c = others; *c && *c != '!'; c++) {
		struct event *event;

		switch (*c) {
		case 'l':
			do_call(note(LOOKUP, 1));
			break;
		case 'r':
			event = note(REMOVE, 1);
			do_call(event);
			removed = event->value;
			break;
		case 'i':
			if (!removed)
				break;
			event = note(INSERT, 1);
			event->value = FIRST_TIME + 1;
			do_call(event);
			break;
		case 'g':
			if (grown)
				break;
			must(insert_keys(&table, OTHERS, OTHERS + MANY) == MANY, 6);
			grown = true;
			break;
		case 'f':
			must(insert_keys(&table, OTHERS + MANY, OTHERS + MANY + FEW) == FEW, 15);
			must(count_keys(&table, OTHERS + MANY, OTHERS + MANY + FEW) == FEW, 16);
			break;
		case 's':
			if (!grown)
				break;
			must(remove_keys(&table, OTHERS, OTHERS + MANY) == MANY, 7);
			grown = false;
			break;
		case 'e':
			must(for_all(remove_keys) == all(), 8);
			emptied = true;
			break;
		}
		must(count_keys(&table, OTHERS, OTHERS + MANY) == (grown ? MANY : 0), 9);
		must(for_all(count_keys) == (emptied ? 0 : all()), 10);
	}
	if (emptied)
		before = 0;
	return !*c;
}

/* Is there an order?  Can all be taken out? */
static void judge(void)
{
	uint64_t record[HANDLE_TABLE_MAX_WORDS];
	unsigned long visited = 0;
	bool in = handle_table_lookup(&table, key, record);

	must(history_is_linearizable(&history, in ? record[0] : 0), 11);
	must(handle_table_remove(&table, key, record) == in, 12);
	must(count_keys(&table, OTHERS, OTHERS + MANY) == (grown ? MANY : 0), 17);
	must(for_all(remove_keys) == all(), 13);
	remove_keys(&table, OTHERS, OTHERS + MANY + FEW);
	handle_table_for_each(&table, count_visit, &visited);
	must(!visited, 14);
}

static void on_step(int signal, siginfo_t *info, void *context)
{
	greg_t *flags = &((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];
	int status = 0;
	pid_t child;

	(void)signal;
	(void)info;
	if (++steps < next_stop)
		return;
	next_stop = steps + stride;
	child = fork();
	if (child) {
		if (child < 0 || waitpid(child, &status, 0) != child)
			status = -1;
		if (status && !bad_stops++)
			fprintf(stderr,
				"suspend: %s, others %s: after %lu instructions: status %#x\n",
				state->name, others, steps, (unsigned int)status);
		stops++;
		return;
	}
	alarm(10); /* others that wait for us would do so for ever */
	*flags &= ~TRAP_FLAG;
	stopped = true;
	if (!others_work()) {
		judge();
		_exit(0);
	}
}

static void run(bool stopping)
{
	struct event *event = note(state->call, 0);

	event->value = state->call == INSERT ? FIRST_TIME : 0;
	if (stopping)
		__builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | TRAP_FLAG);
	__asm__ volatile("" ::: "memory");
	do_call(event);
	__asm__ volatile("" ::: "memory");
	__builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() & ~TRAP_FLAG);
	/* The last stop comes here: the compiler must not have read @stopped before */
	__asm__ volatile("" ::: "memory");
	if (stopped) {
		judge();
		_exit(0);
	}
}

static void set_up(unsigned long has)
{
	unsigned long most = state->had > has ? state->had : has;
	struct event *event;

	handle_table_destroy(&table);
	table.more_words = 1;
	history.events = 0;
	before = has;
	key = key_of(before);
	insert_keys(&table, 0, has);
	if (state->in) {
		event = note(INSERT, 2);
		event->value = FIRST_TIME;
		do_call(event);
	}
	insert_keys(&table, has + 1, most);
	remove_keys(&table, has + 1, most);
}

/* Finds the table in which the call replaces a leaf, and leaves it set up */
static bool go_to_the_verge(void)
{
	unsigned long i;

	for (i = 0; i < 150; i++) {
		unsigned long has = state->call == INSERT ? state->has + i : state->has - i;
		uint64_t epoch;
		size_t bytes;

		set_up(has);
		epoch = table.epoch;
		bytes = handle_table_bytes(&table);
		run(false);
		if (table.epoch != epoch || handle_table_bytes(&table) != bytes) {
			set_up(has);
			return true;
		}
		if (state->call == REMOVE && !has)
			break;
	}
	return false;
}

static bool run_case(unsigned long wanted)
{
	static const struct state *counted;
	static unsigned long count;
	bool ready = true;

	if (state->on_the_verge)
		ready = go_to_the_verge();
	else
		set_up(state->has);
	if (!ready) {
		printf("  %s: no such table\n", state->name);
		return false;
	}
	stops = bad_stops = 0;
	stride = 1;
	if (wanted && counted != state) { /* once without stops, to count */
		steps = 0;
		next_stop = ~0ul;
		run(true);
		count = steps;
		counted = state;
		set_up(before);
	}
	if (wanted)
		stride = count / wanted + 1;
	steps = 0;
	next_stop = 1 + stride / 2;
	run(true);
	judge();
	printf("  %-6s %s, others %s: %lu instructions, %lu stops, %lu bad\n",
	       bad_stops ? "FAILED" : "ok", state->name, others, steps, stops, bad_stops);
	fflush(stdout);
	return stops && !bad_stops;
}

int main(int argc, char **argv)
{
	unsigned long wanted = argc > 1 ? strtoul(argv[1], NULL, 0) : 20;
	unsigned int passed = 0, failed = 0, i, j;
	struct sigaction action = {.sa_flags = SA_SIGINFO};

	action.sa_sigaction = on_step;
	sigaction(SIGTRAP, &action, NULL);
	for (i = 0; i < sizeof(states) / sizeof(*states); i++) {
		const char *const *scripts = while_inserting;
		unsigned int count = sizeof(while_inserting) / sizeof(*while_inserting);

		state = &states[i];
		if (argc > 2 && (*argv[2] == '=' ? strcmp(state->name, argv[2] + 1) != 0
						 : !strstr(state->name, argv[2])))
			continue;
		if (state->call == REMOVE) {
			scripts = while_removing;
			count = sizeof(while_removing) / sizeof(*while_removing);
		} else if (state->call == LOOKUP) {
			scripts = while_looking;
			count = sizeof(while_looking) / sizeof(*while_looking);
		}
		for (j = 0; j < count; j++) {
			others = scripts[j];
			if (run_case(wanted))
				passed++;
			else
				failed++;
		}
	}
	printf("%u passed, %u failed\n", passed, failed);
	return failed != 0;
}

#else

int main(void)
{
	printf("0 passed, 0 failed\n");
	return 0;
}

#endif
