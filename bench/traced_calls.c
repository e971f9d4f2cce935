// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What a registration and a deregistration cost that do nothing (instant.c): by themselves, through
 * the shim, and traced in one way or another. Every contender is a process of its own, as it would
 * be anywhere, and they work by turns.
 *
 *	traced_calls DIRECTORY SHIM ROUNDS SCRATCH
 *
 * An LTTng session that takes the events of ibvbuf_bench is there, or they cost nothing. ltrace has
 * no turn if it cannot be run.
 */
#define _GNU_SOURCE
#include "harness.h"
#include "tracing_worker.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Few enough for LTTng's buffers, which are emptied before it has its next turn. */
#define BURST 2048
/* Two steps of a trace file. */
#define GROWING_BURST 16384
/* A fraction of a second. */
#define LTRACE_BURST 50

#define REST_MICROSECONDS 4000

enum contender { ON, DIRECT, OFF, GROWING, CLOCKS, EVENT, EVENTS, LTRACE, CONTENDERS };

/**
 * struct worker - a contender
 * @name: for people
 * @way: the worker's argument
 * @burst: calls a turn
 * @is_preloaded: whether the shim is there
 * @limit: of the trace file, or NULL for none
 * @process: 0 if it has no turn
 * @to: its standard input
 * @from: its standard output
 */
static struct worker {
	const char *name;
	const char *way;
	uint32_t burst;
	bool is_preloaded;
	const char *limit;
	pid_t process;
	int to;
	int from;
} workers[CONTENDERS] = {
	[ON] = {.name = "on", .way = "calls", .burst = BURST, .is_preloaded = true, .limit = "1M"},
	[DIRECT] = {.name = "direct", .way = "calls", .burst = BURST},
	[OFF] = {.name = "off", .way = "calls", .burst = BURST, .is_preloaded = true},
	[GROWING] = {.name = "on, file growing",
		     .way = "calls",
		     .burst = GROWING_BURST,
		     .is_preloaded = true,
		     .limit = "64G"},
	[CLOCKS] = {.name = "two clocks", .way = "clocks", .burst = BURST},
	[EVENT] = {.name = "LTTng-UST", .way = "event", .burst = BURST},
	[EVENTS] = {.name = "LTTng-UST, begin and end", .way = "events", .burst = BURST},
	[LTRACE] = {.name = "ltrace", .way = "calls", .burst = LTRACE_BURST},
};

static const char *results, *shim, *scratch;

static void set_variable(const char *name, const char *value, const char *more)
{
	char text[4096];

	snprintf(text, sizeof(text), "%s%s", value, more);
	if (setenv(name, text, 1))
		bench_fail("%s cannot be set", name);
}

/* The child becomes the worker. */
static void become(const struct worker *worker)
{
	char program[4096];

	snprintf(program, sizeof(program), "%s/tracing_worker", results);
	set_variable("LD_LIBRARY_PATH", results, "/instant");
	if (worker->limit) {
		set_variable("IBVBUF_TRACE", scratch, "/%p.ibvtrace");
		set_variable("IBVBUF_TRACE_LIMIT", worker->limit, "");
	}
	if (worker->is_preloaded)
		set_variable("LD_PRELOAD", shim, "");
	if (worker == &workers[LTRACE])
		execlp("ltrace", "ltrace", "-o", "/dev/null", "-e", "ibv_reg_mr+ibv_dereg_mr",
		       program, worker->way, (char *)NULL);
	else
		execl(program, program, worker->way, (char *)NULL);
	_exit(127);
}

static void start(struct worker *worker)
{
	int to[2], from[2];

	if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC))
		bench_fail("no pipe: %s", strerror(errno));
	worker->process = fork();
	if (worker->process < 0)
		bench_fail("fork: %s", strerror(errno));
	if (!worker->process) {
		dup2(to[0], STDIN_FILENO);
		dup2(from[1], STDOUT_FILENO);
		become(worker);
	}
	close(to[0]);
	close(from[1]);
	worker->to = to[1];
	worker->from = from[0];
}

static double ask(const struct worker *worker, enum traced_call call)
{
	const struct burst burst = {.call = call, .count = worker->burst};
	double taken;

	if (write(worker->to, &burst, sizeof(burst)) != sizeof(burst) ||
	    read(worker->from, &taken, sizeof(taken)) != sizeof(taken))
		return NAN;
	usleep(REST_MICROSECONDS);
	return taken;
}

/* Also warms up. One that does not answer has no turn. */
static void try(struct worker *worker)
{
	unsigned int call;

	for (call = 0; call < TRACED_CALLS; call++) {
		if (!isnan(ask(worker, call)))
			continue;
		if (worker != &workers[LTRACE])
			bench_fail("%s does not work", worker->name);
		printf("traced_calls: ltrace does not work here\n");
		worker->process = 0;
		return;
	}
}

static void report_difference(const struct bench_case *bench, const char *subject,
			      enum contender more, enum contender less)
{
	struct bench_case *difference = bench_case_new(subject, "ns", "%s", bench->name);
	unsigned int round;

	difference->count = 1;
	difference->contenders[0] = workers[more].name;
	difference->rounds = bench->rounds;
	for (round = 0; round < bench->rounds; round++)
		difference->values[0][round] =
			bench->values[more][round] - bench->values[less][round];
	bench_case_report(difference);
}

static void measure(enum traced_call call, const char *name, unsigned int rounds)
{
	struct bench_case *bench = bench_case_new("tracing", "ns", "%s", name);
	unsigned int round, turn, i;

	bench->count = CONTENDERS;
	bench->rounds = rounds;
	for (i = 0; i < CONTENDERS; i++)
		bench->contenders[i] = workers[i].name;
	for (round = 0; round < rounds; round++) {
		for (turn = 0; turn < CONTENDERS; turn++) {
			i = bench_turn(round, turn, CONTENDERS);
			bench->values[i][round] = workers[i].process ? ask(&workers[i], call) : NAN;
		}
	}
	report_difference(bench, "tracing-off-added", OFF, DIRECT);
	report_difference(bench, "tracing-on-added", ON, CLOCKS);
	bench_case_report(bench);
}

int main(int argc, char **argv)
{
	unsigned int rounds, i;

	if (argc != 5)
		bench_fail("usage: %s DIRECTORY SHIM ROUNDS SCRATCH", argv[0]);
	results = argv[1];
	shim = argv[2];
	rounds = (unsigned int)strtoul(argv[3], NULL, 0);
	scratch = argv[4];
	if (!rounds || rounds > BENCH_MAX_ROUNDS)
		bench_fail("that many rounds cannot be measured");

	signal(SIGPIPE, SIG_IGN);
	bench_open(results, "traced_calls");
	bench_pin(0);
	for (i = 0; i < CONTENDERS; i++)
		start(&workers[i]);
	for (i = 0; i < CONTENDERS; i++)
		try(&workers[i]);
	measure(TRACED_REG_MR, "ibv_reg_mr", rounds);
	measure(TRACED_DEREG_MR, "ibv_dereg_mr", rounds);
	for (i = 0; i < CONTENDERS; i++)
		close(workers[i].to);
	while (wait(NULL) > 0)
		;
	bench_close();
	return 0;
}
