/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBVBUF_TRACE_NAME_H
#define IBVBUF_TRACE_NAME_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct trace_rank - which process of a job this one is
 * @rank: from 0 on, or -1 in no job that is known
 * @variable: of the environment that says so, or empty
 */
struct trace_rank {
	int rank;
	const char *variable;
};

/* As Open MPI, PMIx, MVAPICH, MPICH (PMI) or Slurm have it; none in a set-user-ID program. */
struct trace_rank trace_rank(void);

/**
 * trace_name_is_valid - whether a pattern can be expanded
 *
 * %h host, %e program, %p process id, %r rank ("-" if there is none), %% a percent sign.
 */
bool trace_name_is_valid(const char *pattern, size_t length);

/**
 * trace_name_expand - the absolute path that a valid pattern stands for in this process
 *
 * False, with errno set, if it is too long or the current folder has no name.
 */
bool trace_name_expand(const char *pattern, char *path, size_t capacity);

/* Bytes of a suffix at most: a dot, ten digits and a zero. */
#define TRACE_NAME_SUFFIX 12

/* ".1": what tells apart files that would have the same name. To the end of one. */
void trace_name_add_suffix(char *end, unsigned int suffix);

/* Into a field of the file; of what is too long, its end, which tells more. */
void trace_name_copy(char *field, size_t capacity, const char *text);

#endif
