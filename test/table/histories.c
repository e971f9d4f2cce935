// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Short random runs on one handle table, whose histories have to be linearizable.
 *
 *	histories free THREADS SECONDS [SEED]	threads, as the processor runs them
 *	histories stepped ROUNDS [SEED]		one processor that changes from one thread
 *						to another after any instruction, the same
 *						way for the same seed; sometimes one of
 *						them never goes on (x86-64 only)
 *
 * A few keys are fought for while others come and go, so that leaves are replaced.  Whoever took
 * a key out may put it in again, with a record that nobody ever used.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "keys.h"
#include "linear.h"

#define MAX_THREADS   8
#define MAX_KEYS      4
#define MAX_CALLS     8
#define CROWD	      12 /* keys that a thread adds, to make a leaf grow */
#define FOUGHT_FOR(k) key_of(1000000ul + (k))

static struct handle_table table;
static unsigned int threads, keys;
static unsigned long before; /* keys [0, before) are in */
static uint64_t seed, round_number, rounds;
static struct history history[MAX_KEYS];

static struct worker {
	unsigned int number;
	uint64_t random;
	bool holds[MAX_KEYS];	 /* keys that are out, and ours to put in */
	uint64_t seen[MAX_KEYS]; /* what each was when it was last looked at */
	struct event event[MAX_CALLS];
	unsigned int key[MAX_CALLS];
	unsigned int events;
	pthread_t thread;
	ucontext_t context;
	char *stack;
	bool ended;
} worker[MAX_THREADS];

static void (*before_call)(struct worker *w);
static void (*after_call)(struct worker *w);
static uint64_t (*now)(void);

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static void fail(const char *what)
{
	fprintf(stderr, "histories: seed %llu, round %llu, %u threads, %lu keys before: %s\n",
		(unsigned long long)seed, (unsigned long long)round_number, threads, before, what);
}

static void make_record(uint64_t value, uint64_t *record)
{
	unsigned int i;

	for (i = 0; i < HANDLE_TABLE_MAX_WORDS; i++)
		record[i] = value * (2 * i + 1);
}

static uint64_t value_of(const uint64_t *record)
{
	unsigned int i;

	for (i = 0; i < handle_table_words(&table); i++) {
		if (record[i] != record[0] * (2 * i + 1)) {
			fail("a record that nobody wrote");
			abort();
		}
	}
	return record[0];
}

static void call(struct worker *w, unsigned int key)
{
	uint64_t record[HANDLE_TABLE_MAX_WORDS];
	struct event *event = &w->event[w->events];
	bool found = false;
	int ret = 0;

	event->thread = w->number;
	event->value = 0;
	event->returned = NEVER;
	w->key[w->events] = key;
	if (w->holds[key]) {
		event->call = INSERT;
		event->value = (w->number + 1) << 16 | w->events << 8 | (key + 1);
		make_record(event->value, record);
	} else {
		event->call = next_random(&w->random) & 1 ? LOOKUP : REMOVE;
		if (event->call == REMOVE && w->seen[key] && next_random(&w->random) & 1)
			event->call = REMOVE_IF;
	}
	event->wanted = w->seen[key];
	event->called = now();
	w->events++;
	before_call(w);
	if (event->call == INSERT)
		ret = handle_table_insert(&table, FOUGHT_FOR(key), record);
	else if (event->call == LOOKUP)
		found = handle_table_lookup(&table, FOUGHT_FOR(key), record);
	else if (event->call == REMOVE_IF)
		found = handle_table_remove_if(&table, FOUGHT_FOR(key), event->wanted);
	else
		found = handle_table_remove(&table, FOUGHT_FOR(key), record);
	after_call(w);
	event->returned = now();
	if (ret) {
		fail("an insert failed");
		abort();
	}
	if (found)
		event->value = event->call == REMOVE_IF ? event->wanted : value_of(record);
	if (event->call == INSERT)
		w->holds[key] = false;
	else if (event->call == LOOKUP)
		w->seen[key] = event->value;
	else
		w->holds[key] = found;
}

/* Keys of our own come, or go */
static void crowd(struct worker *w, bool come)
{
	unsigned long from = 10000ul * (w->number + 1);
	/* Many instructions: mostly all at once, where each costs much */
	bool whole = next_random(&w->random) % 4;

	if (!whole)
		before_call(w);
	if (come)
		insert_keys(&table, from, from + CROWD);
	else
		remove_keys(&table, from, from + CROWD);
	if (!whole)
		after_call(w);
}

static void work(struct worker *w)
{
	unsigned int i, calls = 3 + (unsigned int)(next_random(&w->random) % (MAX_CALLS - 2));
	unsigned int when = (unsigned int)(next_random(&w->random) % (2 * calls));

	for (i = 0; i < calls; i++) {
		if (i == when)
			crowd(w, true);
		call(w, (unsigned int)(next_random(&w->random) % keys));
	}
	if (when < calls && next_random(&w->random) & 1)
		crowd(w, false);
}

static void begin_round(void)
{
	static const unsigned long some[] = {0, 1, 20, 60, 120, 128, 132, 135, 136, 260, 270};
	uint64_t random = seed ^ round_number * 0x2545f4914f6cdd1dull;
	unsigned long shrink = 0;
	unsigned int i, k;

	handle_table_destroy(&table);
	table.more_words = next_random(&random) % 3;
	keys = 1 + (unsigned int)(next_random(&random) % MAX_KEYS);
	before = some[next_random(&random) % (sizeof(some) / sizeof(*some))];
#ifdef HANDLE_TABLE_USE_LIMIT
	/* A leaf is worn soon, and every search is a long one */
	before /= 8;
#endif
	if (next_random(&random) % 8 == 0)
		shrink = 200; /* so that the leaf is larger than it has to be */
	insert_keys(&table, 0, before + shrink);
	remove_keys(&table, before, before + shrink);
	for (i = 0; i < threads; i++) {
		worker[i].number = i;
		worker[i].random = next_random(&random);
		worker[i].events = 0;
		worker[i].ended = false;
		for (k = 0; k < MAX_KEYS; k++)
			worker[i].holds[k] = k % threads == i;
	}
}

static bool round_is_right(void)
{
	uint64_t record[HANDLE_TABLE_MAX_WORDS];
	bool right = true;
	unsigned int i, k, e;

	for (k = 0; k < keys; k++)
		history[k].events = 0;
	for (i = 0; i < threads; i++)
		for (e = 0; e < worker[i].events; e++) {
			struct history *h = &history[worker[i].key[e]];

			h->event[h->events++] = worker[i].event[e];
		}
	for (k = 0; k < keys; k++) {
		uint64_t last = 0;

		if (handle_table_lookup(&table, FOUGHT_FOR(k), record))
			last = value_of(record);
		if (history_is_linearizable(&history[k], last))
			continue;
		fail("no order explains this:");
		history_print(&history[k], last);
		right = false;
	}
	if (count_keys(&table, 0, before) != before) {
		fail("keys were lost");
		right = false;
	}
	return right;
}

static void nothing(struct worker *w)
{
	(void)w;
}

/* Threads */

static pthread_barrier_t barrier;
static bool over, wrong;
static time_t deadline;

static uint64_t clock_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void dawdle(struct worker *w)
{
	unsigned int random = (unsigned int)next_random(&w->random);
	volatile unsigned int i;

	if (random % 16 == 0)
		sched_yield();
	for (i = random >> 8 & 127; i; i--)
		;
}

static void *run_thread(void *arg)
{
	struct worker *w = arg;

	for (;;) {
		pthread_barrier_wait(&barrier);
		if (over)
			return NULL;
		work(w);
		pthread_barrier_wait(&barrier);
	}
}

static int run_free(void)
{
	unsigned int i;

	before_call = dawdle;
	after_call = nothing;
	now = clock_now;
	pthread_barrier_init(&barrier, NULL, threads + 1);
	for (i = 0; i < threads; i++)
		pthread_create(&worker[i].thread, NULL, run_thread, &worker[i]);
	while (!wrong && time(NULL) < deadline) {
		round_number++;
		begin_round();
		pthread_barrier_wait(&barrier);
		pthread_barrier_wait(&barrier);
		wrong = !round_is_right();
	}
	over = true;
	pthread_barrier_wait(&barrier);
	for (i = 0; i < threads; i++)
		pthread_join(worker[i].thread, NULL);
	return wrong;
}

/* Steps */

#if defined(__x86_64__)
#define TRAP_FLAG  0x100ull
#define STACK_SIZE (128 << 10)

static struct worker *running;
static ucontext_t referee;
static uint64_t dice, ticks;
static unsigned int stay;     /* instructions until another one runs, on average */
static struct worker *doomed; /* will be stopped for ever */
static uint64_t doom;	      /* instructions of its until then */

static uint64_t ticks_now(void)
{
	return ++ticks;
}

static void run_another(void)
{
	struct worker *from = running;
	unsigned int i = (unsigned int)(next_random(&dice) % threads), n;

	for (n = 0; n < threads && (worker[i].ended || &worker[i] == from); n++)
		i = (i + 1) % threads;
	if (n < threads) {
		running = &worker[i];
		swapcontext(&from->context, &running->context);
	} else if (from->ended) {
		swapcontext(&from->context, &referee);
	}
}

static void on_step(int signal)
{
	(void)signal;
	if (running == doomed && !--doom) {
		running->ended = true;
		run_another();
	} else if (next_random(&dice) % stay == 0) {
		run_another();
	}
}

static void trap_on(struct worker *w)
{
	(void)w;
	__builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | TRAP_FLAG);
}

static void trap_off(struct worker *w)
{
	(void)w;
	__builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() & ~TRAP_FLAG);
}

static void run_steps(void)
{
	struct worker *w = running;

	work(w);
	w->ended = true;
	run_another();
}

static int run_stepped(void)
{
	struct sigaction action = {.sa_handler = on_step, .sa_flags = SA_NODEFER};
	unsigned int i;

	before_call = trap_on;
	after_call = trap_off;
	now = ticks_now;
	sigaction(SIGTRAP, &action, NULL);
	for (i = 0; i < MAX_THREADS; i++)
		worker[i].stack = malloc(STACK_SIZE);
	while (round_number++ < rounds) {
		dice = seed ^ round_number << 20;
		threads = 2 + (unsigned int)(next_random(&dice) % 3);
		stay = 1u << (2 + next_random(&dice) % 8);
		begin_round();
		doomed = next_random(&dice) % 3 ? NULL : &worker[next_random(&dice) % threads];
		doom = 1 + next_random(&dice) % 2000;
		for (i = 0; i < threads; i++) {
			getcontext(&worker[i].context);
			worker[i].context.uc_stack.ss_sp = worker[i].stack;
			worker[i].context.uc_stack.ss_size = STACK_SIZE;
			worker[i].context.uc_link = NULL;
			makecontext(&worker[i].context, run_steps, 0);
		}
		running = &worker[next_random(&dice) % threads];
		swapcontext(&referee, &running->context);
		if (!round_is_right())
			return 1;
	}
	return 0;
}
#else
static int run_stepped(void)
{
	return 0;
}
#endif

int main(int argc, char **argv)
{
	bool stepped = argc > 2 && !strcmp(argv[1], "stepped");
	int ret;

	if (!stepped && (argc < 4 || strcmp(argv[1], "free"))) {
		fprintf(stderr,
			"usage: histories free THREADS SECONDS [SEED] | stepped ROUNDS [SEED]\n");
		return 2;
	}
	seed = (uint64_t)time(NULL);
	if (argc > (stepped ? 3 : 4))
		seed = strtoull(argv[stepped ? 3 : 4], NULL, 0);
	alarm(1200); /* who waits for somebody would do so for ever */
	if (stepped) {
		rounds = strtoul(argv[2], NULL, 0);
		ret = run_stepped();
	} else {
		threads = (unsigned int)strtoul(argv[2], NULL, 0);
		if (!threads || threads > MAX_THREADS)
			return 2;
		deadline = time(NULL) + (time_t)strtoul(argv[3], NULL, 0);
		ret = run_free();
	}
	printf("histories: %s, seed %llu: %llu runs, %s\n", argv[1], (unsigned long long)seed,
	       (unsigned long long)round_number,
	       ret ? "one is not linearizable" : "all linearizable");
	return ret;
}
