// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "harness.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static FILE *json;
static bool json_has_results;
static char last_subject[64];
static cpu_set_t allowed;

void bench_fail(const char *format, ...)
{
	va_list arguments;

	fputs("bench: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(1);
}

/* The first line of a file that begins with @key, from behind the colon; or the first line. */
static void read_line(const char *path, const char *key, char *line, size_t size)
{
	char text[512];
	FILE *file = fopen(path, "r");

	snprintf(line, size, "unknown");
	while (file && fgets(text, sizeof(text), file)) {
		const char *start = text;

		if (key && strncmp(text, key, strlen(key)))
			continue;
		if (key)
			start = strchr(text, ':') ? strchr(text, ':') + 1 : text;
		start += strspn(start, " \t");
		snprintf(line, size, "%.*s", (int)strcspn(start, "\n"), start);
		break;
	}
	if (file)
		fclose(file);
}

#define QUOTED_SIZE 512

/* As a JSON string; nothing here has control characters. */
static const char *quoted(const char *text, char *buffer)
{
	size_t length = 0;

	buffer[length++] = '"';
	for (; *text && length < QUOTED_SIZE - 4; text++) {
		if (*text == '"' || *text == '\\')
			buffer[length++] = '\\';
		buffer[length++] = *text;
	}
	buffer[length++] = '"';
	buffer[length] = 0;
	return buffer;
}

static void put_machine(const char *program)
{
	char model[128], memory[64], pages[64], load[64];
	char text[QUOTED_SIZE];
	struct utsname system;

	uname(&system);
	read_line("/proc/cpuinfo", "model name", model, sizeof(model));
	read_line("/proc/meminfo", "MemTotal", memory, sizeof(memory));
	read_line("/sys/kernel/mm/transparent_hugepage/enabled", NULL, pages, sizeof(pages));
	read_line("/proc/loadavg", NULL, load, sizeof(load));
	fprintf(json, "{\"program\": %s,\n", quoted(program, text));
	fprintf(json, "\"processor\": %s,\n", quoted(model, text));
	fprintf(json, "\"processors\": %d,\n", CPU_COUNT(&allowed));
	fprintf(json, "\"memory\": %s,\n", quoted(memory, text));
	fprintf(json, "\"kernel\": %s,\n", quoted(system.release, text));
	fprintf(json, "\"transparent huge pages\": %s,\n", quoted(pages, text));
	fprintf(json, "\"load\": %s,\n", quoted(load, text));
#ifdef __clang__
	fprintf(json, "\"compiler\": %s,\n", quoted(__VERSION__, text));
#else
	fprintf(json, "\"compiler\": %s,\n", quoted("gcc " __VERSION__, text));
#endif
	fprintf(json, "\"results\": [");
	printf("%s: %s, %d processors, %s; Linux %s; huge pages %s; load %s\n", program, model,
	       CPU_COUNT(&allowed), memory, system.release, pages, load);
}

void bench_open(const char *directory, const char *program)
{
	char path[4096];

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		bench_fail("sched_getaffinity: %s", strerror(errno));
	snprintf(path, sizeof(path), "%s/%s.json", directory, program);
	json = fopen(path, "w");
	if (!json)
		bench_fail("cannot write %s: %s", path, strerror(errno));
	setvbuf(stdout, NULL, _IOLBF, 0);
	put_machine(program);
}

void bench_close(void)
{
	fprintf(json, "\n]}\n");
	if (fclose(json))
		bench_fail("cannot write the results: %s", strerror(errno));
}

struct bench_case *bench_case_new(const char *subject, const char *unit, const char *name, ...)
{
	struct bench_case *bench = calloc(1, sizeof(*bench));
	va_list arguments;

	if (!bench)
		bench_fail("out of memory");
	snprintf(bench->subject, sizeof(bench->subject), "%s", subject);
	snprintf(bench->unit, sizeof(bench->unit), "%s", unit);
	va_start(arguments, name);
	vsnprintf(bench->name, sizeof(bench->name), name, arguments);
	va_end(arguments);
	return bench;
}

static int compare(const void *left, const void *right)
{
	double difference = *(const double *)left - *(const double *)right;

	return difference < 0 ? -1 : difference > 0;
}

/**
 * struct spread - of the rounds that a contender had
 */
struct spread {
	double median;
	double low;
	double high;
	unsigned int count;
};

/* Between the two values next to it. */
static double quantile(const double *sorted, unsigned int count, double part)
{
	double place = part * (count - 1);
	unsigned int before = (unsigned int)place;

	if (before + 1 >= count)
		return sorted[count - 1];
	return sorted[before] + (place - before) * (sorted[before + 1] - sorted[before]);
}

static struct spread spread_of(const double *values, unsigned int count)
{
	static double sorted[BENCH_MAX_ROUNDS];
	struct spread spread = {NAN, NAN, NAN, 0};
	unsigned int i;

	for (i = 0; i < count; i++)
		if (!isnan(values[i]))
			sorted[spread.count++] = values[i];
	if (!spread.count)
		return spread;
	qsort(sorted, spread.count, sizeof(*sorted), compare);
	spread.median = quantile(sorted, spread.count, 0.5);
	spread.low = quantile(sorted, spread.count, 0.25);
	spread.high = quantile(sorted, spread.count, 0.75);
	return spread;
}

static double ratio_to(const struct bench_case *bench, unsigned int baseline)
{
	static double ratios[BENCH_MAX_ROUNDS];
	unsigned int round;

	for (round = 0; round < bench->rounds; round++)
		ratios[round] = bench->values[0][round] / bench->values[baseline][round];
	return spread_of(ratios, bench->rounds).median;
}

static void put_result(const struct bench_case *bench, const char *contender,
		       const struct spread *spread, double ratio)
{
	char subject[QUOTED_SIZE], name[QUOTED_SIZE], who[QUOTED_SIZE];

	/* One line each: report reads them. */
	fprintf(json,
		"%s\n{\"subject\": %s, \"case\": %s, \"unit\": \"%s\", \"contender\": %s, "
		"\"median\": %.6g, \"low\": %.6g, \"high\": %.6g, \"rounds\": %u, \"ratio\": ",
		json_has_results ? "," : "", quoted(bench->subject, subject),
		quoted(bench->name, name), bench->unit, quoted(contender, who), spread->median,
		spread->low, spread->high, spread->count);
	fprintf(json, isnan(ratio) ? "null}" : "%.4g}", ratio);
	json_has_results = true;
}

void bench_case_report(struct bench_case *bench)
{
	unsigned int i;

	if (strcmp(last_subject, bench->subject))
		printf("%s, %s (median, quartiles; ours / other in brackets)\n", bench->subject,
		       bench->unit);
	snprintf(last_subject, sizeof(last_subject), "%s", bench->subject);
	printf("  %-34s", bench->name);
	for (i = 0; i < bench->count; i++) {
		struct spread spread = spread_of(bench->values[i], bench->rounds);
		double ratio = i ? ratio_to(bench, i) : NAN;

		if (!spread.count)
			continue;
		printf("  %s %.4g", bench->contenders[i], spread.median);
		if (spread.count > 1)
			printf(" (%.3g..%.3g)", spread.low, spread.high);
		if (i)
			printf(" [%.2f]", ratio);
		put_result(bench, bench->contenders[i], &spread, ratio);
	}
	printf("\n");
	free(bench);
}

static uint64_t read_clock(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

uint64_t bench_now(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t bench_thread_time(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

void bench_pin(unsigned int number)
{
	unsigned int left = number % (unsigned int)CPU_COUNT(&allowed);
	cpu_set_t one;
	int processor;

	for (processor = 0; processor < CPU_SETSIZE; processor++)
		if (CPU_ISSET(processor, &allowed) && !left--)
			break;
	CPU_ZERO(&one);
	CPU_SET(processor, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		bench_fail("cannot pin a thread: %s", strerror(errno));
}
