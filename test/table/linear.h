/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Is a recorded history of one key linearizable?  The search of J. Wing and C. Gong
 * ("Testing and verifying concurrent objects", 1993) with the memory of G. Lowe
 * ("Testing for linearizability", 2017).  Keys have nothing to do with each other,
 * and linearizability is local, so each key is checked by itself.
 */
#ifndef TEST_TABLE_LINEAR_H
#define TEST_TABLE_LINEAR_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum call { INSERT, LOOKUP, REMOVE, REMOVE_IF };

#define MAX_EVENTS 64
#define NEVER	   UINT64_MAX

/*
 * What a thread did.  Each insert has a value of its own; 0 stands for absent, as
 * the value that a lookup or remove found, and as what a key is.  A remove_if that
 * wants another value than there is finds nothing.
 */
struct event {
	enum call call;
	unsigned int thread;
	uint64_t value;
	uint64_t wanted;	   /* by a remove_if */
	uint64_t called, returned; /* times; NEVER if it did not return */
};

struct history {
	struct event event[MAX_EVENTS];
	unsigned int events;
};

#define SEEN_STATES 8192

struct search {
	const struct history *history;
	struct {
		uint64_t done, value;
	} seen[SEEN_STATES];
	unsigned int states;
};

/* Whether (done, value) is new */
static inline bool search_notes(struct search *search, uint64_t done, uint64_t value)
{
	uint64_t i = (done * 0x9e3779b97f4a7c15ull ^ value * 0xc2b2ae3d27d4eb4full) >> 40;

	for (;; i++) {
		i %= SEEN_STATES;
		if (!search->seen[i].done)
			break;
		if (search->seen[i].done == done && search->seen[i].value == value)
			return false;
	}
	if (search->states < SEEN_STATES / 2) {
		search->seen[i].done = done;
		search->seen[i].value = value;
		search->states++;
	}
	return true;
}

/* Can what is not done yet be put in some order, from @value on, to @last? */
static inline bool search_on(struct search *search, uint64_t done, uint64_t value, uint64_t last)
{
	const struct history *history = search->history;
	uint64_t first_return = NEVER;
	bool all_done = true;
	unsigned int i;

	for (i = 0; i < history->events; i++) {
		if (done >> i & 1 || history->event[i].returned == NEVER)
			continue;
		all_done = false;
		if (history->event[i].returned < first_return)
			first_return = history->event[i].returned;
	}
	if (all_done && value == last)
		return true;
	for (i = 0; i < history->events; i++) {
		const struct event *event = &history->event[i];
		uint64_t next = value;

		/* Nothing comes before what returned before it was called */
		if (done >> i & 1 || event->called > first_return)
			continue;
		if (event->call == INSERT) {
			if (value)
				continue;
			next = event->value;
		} else if (event->call == REMOVE_IF) {
			bool takes = event->returned == NEVER || event->value;

			if (takes != (value == event->wanted))
				continue;
			if (takes)
				next = 0;
		} else if (event->returned == NEVER) {
			if (event->call == LOOKUP)
				continue;
			next = 0;
		} else {
			if (event->value != value)
				continue;
			if (event->call == REMOVE)
				next = 0;
		}
		if (search_notes(search, done | 1ull << i, next) &&
		    search_on(search, done | 1ull << i, next, last))
			return true;
	}
	return false;
}

/* From absent, to @last */
static inline bool history_is_linearizable(const struct history *history, uint64_t last)
{
	static __thread struct search search;

	memset(&search, 0, sizeof(search));
	search.history = history;
	return search_on(&search, 0, 0, last);
}

static inline void history_print(const struct history *history, uint64_t last)
{
	static const char *const name[] = {"insert", "lookup", "remove", "remove_if"};
	unsigned int i;

	for (i = 0; i < history->events; i++) {
		const struct event *event = &history->event[i];

		fprintf(stderr, "\tthread %u  %s %#llx  %llu to %llu\n", event->thread,
			name[event->call], (unsigned long long)event->value,
			(unsigned long long)event->called, (unsigned long long)event->returned);
	}
	fprintf(stderr, "\tat the end %#llx\n", (unsigned long long)last);
}

#endif /* TEST_TABLE_LINEAR_H */
