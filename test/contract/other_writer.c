// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Another writer of the same pipe, which is always quicker. The shim writes by syscall(), which is
 * this program's before it is the C library's.
 */
#define _GNU_SOURCE
#include "other_writer.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ARGUMENTS 6

static long (*library_syscall)(long number, ...);
static bool is_quicker;

__attribute__((constructor)) static void find_library_syscall(void)
{
	library_syscall = (long (*)(long number, ...))dlsym(RTLD_NEXT, "syscall");
}

void fill(int fd)
{
	static const char bytes[256];
	int flags = fcntl(fd, F_GETFL);
	size_t length = sizeof(bytes);

	cr_assert_eq(fcntl(fd, F_SETFL, flags | O_NONBLOCK), 0);
	for (; length; length /= 2)
		while (write(fd, bytes, length) > 0)
			;
	cr_assert_eq(errno, EAGAIN);
	cr_assert_eq(fcntl(fd, F_SETFL, flags), 0);
}

void fill_before_each_write(void)
{
	is_quicker = true;
}

/*
 * As the C library's, it takes six arguments; where fewer were passed, the last is whatever is
 * there.
 */
__attribute__((no_sanitize_address)) long syscall(long number, ...)
{
	long arguments[ARGUMENTS];
	va_list list;
	size_t i;

	va_start(list, number);
	for (i = 0; i < ARGUMENTS; i++)
		arguments[i] = va_arg(list, long);
	va_end(list);
	if (is_quicker && (number == SYS_write || number == SYS_sendto))
		fill(STDERR_FILENO);
	return library_syscall(number, arguments[0], arguments[1], arguments[2], arguments[3],
			       arguments[4], arguments[5]);
}
