/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A small runner in the place of Criterion: what the tests use of it, each test in a forked child.
 * Criterion starts the program again for each test, which is slow under Valgrind, and has a heap
 * of its own, at which the tools stumble.
 */
#ifndef RUNNER_CRITERION_H
#define RUNNER_CRITERION_H

#include <string.h>

struct runner_options {
	double timeout;
};

struct runner_test {
	const char *suite;
	const char *name;
	void (*run)(void);
	struct runner_options options;
	struct runner_test *next;
	int process;
};

void runner_add(struct runner_test *test);
_Noreturn void runner_fail(const char *file, int line, const char *condition, const char *format,
			   ...) __attribute__((format(printf, 4, 5)));
_Noreturn void runner_skip(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define Test(suite_, name_, ...)                                                                   \
	static void suite_##_##name_(void);                                                        \
	__attribute__((constructor)) static void suite_##_##name_##_add(void)                      \
	{                                                                                          \
		static struct runner_test test = {.suite = #suite_,                                \
						  .name = #name_,                                  \
						  .run = suite_##_##name_,                         \
						  .options = {__VA_ARGS__}};                       \
                                                                                                   \
		runner_add(&test);                                                                 \
	}                                                                                          \
	static void suite_##_##name_(void)

#define cr_assert(condition, ...)                                                                  \
	((condition) ? (void)0 : runner_fail(__FILE__, __LINE__, #condition, " " __VA_ARGS__))
#define cr_assert_fail(...)	    runner_fail(__FILE__, __LINE__, "reached", " " __VA_ARGS__)
#define cr_assert_eq(a, b, ...)	    cr_assert((a) == (b), __VA_ARGS__)
#define cr_assert_neq(a, b, ...)    cr_assert((a) != (b), __VA_ARGS__)
#define cr_assert_lt(a, b, ...)	    cr_assert((a) < (b), __VA_ARGS__)
#define cr_assert_gt(a, b, ...)	    cr_assert((a) > (b), __VA_ARGS__)
#define cr_assert_geq(a, b, ...)    cr_assert((a) >= (b), __VA_ARGS__)
#define cr_assert_null(a, ...)	    cr_assert((a) == NULL, __VA_ARGS__)
#define cr_assert_not_null(a, ...)  cr_assert((a) != NULL, __VA_ARGS__)
#define cr_assert_str_eq(a, b, ...) cr_assert(!strcmp(a, b), __VA_ARGS__)
#define cr_skip_test(...)	    runner_skip(" " __VA_ARGS__)

#endif
