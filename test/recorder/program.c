// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * program WAY [ARGUMENT...]
 *
 * A program that registers memory, in one of the ways of programs. It prints what came of it, which
 * is the same whether it is traced or not.
 */
#define _GNU_SOURCE
#include "held_linker.h"
#include "ranges.h"

#include <infiniband/verbs.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "standin.h"

/* verbs.h makes a macro of it. */
#undef ibv_reg_mr

#define THREADS	  4
#define MANY	  20000
#define SIZE_LINE 64

static struct ibv_context context;
static struct ibv_pd *pd;
static char **own_arguments;

static void fail(const char *what)
{
	printf("%s: %s\n", what, strerror(errno));
	exit(3);
}

/* A registration, which leaves errno alone. */
__attribute__((noinline)) static struct ibv_mr *register_range(uint32_t thread, uint32_t call)
{
	uint64_t address = range_address(thread, call);
	int saved_errno = errno;
	struct ibv_mr *mr;

	mr = ibv_reg_mr(pd, (void *)(uintptr_t)address, range_length(address), 0);
	if (!mr || errno != saved_errno)
		fail("ibv_reg_mr");
	return mr;
}

/* Calls of that thread, from a number on: each registration is one and each deregistration. */
__attribute__((noinline)) static void make_calls(uint32_t thread, uint32_t from, uint32_t count)
{
	for (; count; from++, count--)
		if (ibv_dereg_mr(register_range(thread, from)))
			fail("ibv_dereg_mr");
}

static void begin(void)
{
	pd = ibv_alloc_pd(&context);
	if (!pd)
		fail("ibv_alloc_pd");
}

static uint32_t number(const char *text)
{
	return (uint32_t)strtoul(text, NULL, 10);
}

static void say(const char *what)
{
	printf("%s\n", what);
	fflush(stdout);
}

static void register_some(char **arguments)
{
	begin();
	make_calls(0, 0, number(arguments[0]));
	say("registered");
}

/* Calls that have returned, a cache line for each thread. */
static uint32_t *returned;

static void *register_for_ever(void *argument)
{
	uint32_t thread = (uint32_t)(uintptr_t)argument;
	uint32_t *count = returned + thread * (SIZE_LINE / sizeof(*returned));
	uint32_t i;

	for (i = 0;; i++) {
		struct ibv_mr *mr = register_range(thread, i);

		__atomic_store_n(count, 2 * i + 1, __ATOMIC_RELEASE);
		ibv_dereg_mr(mr);
		__atomic_store_n(count, 2 * i + 2, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* FILE gets the counts. */
static void register_until_killed(char **arguments)
{
	int fd = open(arguments[0], O_RDWR | O_CLOEXEC);
	pthread_t thread;
	uintptr_t i;

	returned = mmap(NULL, THREADS * SIZE_LINE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (returned == MAP_FAILED)
		fail("mmap");
	begin();
	for (i = 1; i < THREADS; i++)
		pthread_create(&thread, NULL, register_for_ever, (void *)i);
	register_for_ever(NULL);
}

/* Like one that rotates logs: PATH is taken away, and perhaps another put there. */
static void register_without(char **arguments)
{
	begin();
	make_calls(0, 0, 10);
	unlink(arguments[0]);
	make_calls(0, 10, MANY);
	say("registered");
}

static void register_beside(char **arguments)
{
	static const char text[] = "another file\n";
	char moved[4096];
	int fd;

	begin();
	make_calls(0, 0, 10);
	snprintf(moved, sizeof(moved), "%s.moved", arguments[0]);
	rename(arguments[0], moved);
	fd = open(arguments[0], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		fail("write");
	close(fd);
	/* What it finds there is no reason. */
	errno = 0;
	make_calls(0, 10, MANY);
	say("registered");
}

static volatile sig_atomic_t signals;

static void count_signal(int signal)
{
	(void)signal;
	signals++;
}

/* With a handler for the signal of files at the limit of their size. */
static void register_with_limit(char **arguments)
{
	signal(SIGXFSZ, count_signal);
	register_some(arguments);
	printf("signals: %d\n", (int)signals);
}

static void close_all(void)
{
	int fd;

	for (fd = 3; fd < 1024; fd++)
		close(fd);
}

/* As daemons do; FILE is then the first that it opens. */
static void register_after_closing(char **arguments)
{
	FILE *file;

	begin();
	close_all();
	file = fopen(arguments[0], "w");
	if (!file)
		fail("fopen");
	printf("descriptor %d\n", fileno(file));
	fputs("one\n", file);
	fflush(file);
	make_calls(0, 0, MANY);
	fputs("two\n", file);
	fclose(file);
	say("registered");
}

static atomic_bool has_registered;

/* How many lines could be written where nothing is open. */
static void *complain(void *unused)
{
	static const char line[] = "a line of the program's\n";
	uintptr_t written = 0;

	(void)unused;
	while (!atomic_load(&has_registered))
		written += write(STDERR_FILENO, line, sizeof(line) - 1) > 0;
	return (void *)written;
}

static void register_with_closed_error(char **arguments)
{
	pthread_t thread;
	void *written;

	begin();
	close(STDERR_FILENO);
	if (pthread_create(&thread, NULL, complain, NULL))
		fail("pthread_create");
	make_calls(0, 0, number(arguments[0]));
	atomic_store(&has_registered, true);
	pthread_join(thread, &written);
	printf("written: %u\n", (unsigned int)(uintptr_t)written);
}

static void register_without_descriptors(char **arguments)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = 3;
	if (setrlimit(RLIMIT_NOFILE, &limit))
		fail("setrlimit");
	register_some(arguments);
}

static void register_with_little_memory(char **arguments)
{
	struct rlimit limit;
	unsigned long pages;
	FILE *file = fopen("/proc/self/statm", "r");

	if (!file || fscanf(file, "%lu", &pages) != 1)
		fail("statm");
	fclose(file);
	limit.rlim_cur = limit.rlim_max = pages * 4096 + (8 << 20);
	if (setrlimit(RLIMIT_AS, &limit))
		fail("setrlimit");
	register_some(arguments);
	say(malloc(1 << 20) ? "memory" : "no memory");
}

static unsigned int wait_for_all(void)
{
	unsigned int good = 0;
	int status;

	while (wait(&status) > 0)
		good += WIFEXITED(status) && WEXITSTATUS(status) == 9;
	return good;
}

/* Children, each of which makes as many calls of its own, as thread 1. */
static void register_in_children(char **arguments)
{
	uint32_t children = number(arguments[0]), calls = number(arguments[1]);
	uint32_t i;

	begin();
	make_calls(0, 0, calls);
	for (i = 0; i < children; i++) {
		if (fork())
			continue;
		make_calls(1, 0, calls);
		_exit(9);
	}
	printf("children: %u\n", wait_for_all());
	make_calls(0, calls, calls);
}

static bool is_over;

static void *register_until_over(void *argument)
{
	uint32_t i;

	for (i = 0; !__atomic_load_n(&is_over, __ATOMIC_RELAXED); i++)
		make_calls((uint32_t)(uintptr_t)argument, i, 1);
	return NULL;
}

static int linger(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)info;
	(void)size;
	(void)unused;
	usleep(20000);
	return 0;
}

/* In the dynamic linker, with its list of objects, nearly all of the time. */
static void *stay_in_the_linker(void *unused)
{
	(void)unused;
	for (;;)
		dl_iterate_phdr(linger, NULL);
	return NULL;
}

/* Children that find the list of objects held by a thread that they do not have. */
static void fork_beside_the_linker(char **arguments)
{
	uint32_t children = number(arguments[0]), i;
	pthread_t thread;

	begin();
	if (pthread_create(&thread, NULL, stay_in_the_linker, NULL))
		fail("pthread_create");
	usleep(50000);
	for (i = 0; i < children; i++) {
		if (fork())
			continue;
		alarm(10);
		make_calls(1, 0, 10);
		_exit(9);
	}
	printf("children: %u\n", wait_for_all());
}

/* As glibc before 2.25 has it: the answer is kept, and only fork() takes a new one. */
static pid_t kept_process_id;

pid_t getpid(void)
{
	return kept_process_id ? kept_process_id : (pid_t)syscall(SYS_getpid);
}

/* Children of which the C library is not told, while a library is opened. */
static void clone_beside_the_linker(char **arguments)
{
	uint32_t children = number(arguments[0]), i;

	begin();
	kept_process_id = getpid();
	hold_linker();
	for (i = 0; i < children; i++) {
		if (syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL))
			continue;
		alarm(10);
		make_calls(1, 0, 10);
		_exit(9);
	}
	printf("children: %u\n", wait_for_all());
	release_linker();
}

static void fork_among_threads(char **arguments)
{
	uint32_t children = number(arguments[0]), i;
	pthread_t threads[THREADS];
	uintptr_t thread;

	begin();
	for (thread = 1; thread < THREADS; thread++)
		pthread_create(&threads[thread], NULL, register_until_over, (void *)thread);
	for (i = 0; i < children; i++) {
		pid_t child = fork();

		if (!child) {
			make_calls(9, 0, 10);
			_exit(9);
		}
		make_calls(0, i, 1);
	}
	printf("children: %u\n", wait_for_all());
	__atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
	for (thread = 1; thread < THREADS; thread++)
		pthread_join(threads[thread], NULL);
}

static void execute_another(char **arguments)
{
	pid_t child;
	int status;

	begin();
	make_calls(0, 0, number(arguments[0]));
	child = vfork();
	if (!child) {
		execl("/proc/self/exe", own_arguments[0], "some", arguments[0], (char *)NULL);
		_exit(1);
	}
	waitpid(child, &status, 0);
	make_calls(0, number(arguments[0]), number(arguments[0]));
	printf("status: %d\n", status);
}

static void execute_itself(char **arguments)
{
	uint32_t times = number(arguments[0]);
	char next[16];

	begin();
	make_calls(0, 0, 10);
	snprintf(next, sizeof(next), "%u", times - 1);
	printf("%u\n", times);
	fflush(stdout);
	if (times)
		execl("/proc/self/exe", own_arguments[0], "again", next, (char *)NULL);
}

static void leave_at_once(char **arguments)
{
	register_some(arguments);
	_exit(7);
}

/* Calls that fail: a signal handler must not have the stand-in allocate memory. */
static void make_failing_calls(uint32_t thread, uint32_t from, uint32_t count)
{
	for (; count; from++, count--) {
		uint64_t address = range_address(thread, from);

		errno = 0;
		if (ibv_reg_mr(pd, (void *)(uintptr_t)address, range_length(address), 0) ||
		    errno != EFAULT)
			abort();
	}
}

/* fork() would wait for the locks of what was interrupted. */
static void fork_in_handler(int signal)
{
	int saved_errno = errno;

	(void)signal;
	if (!syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)) {
		make_failing_calls(9, 0, 10);
		_exit(9);
	}
	signals++;
	errno = saved_errno;
}

static timer_t timer;

static void start_timer(void (*handler)(int signal), int microseconds)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	struct itimerspec times = {
		.it_interval.tv_nsec = microseconds * 1000,
		.it_value.tv_nsec = microseconds * 1000,
	};

	/* Before the first signal, which may come at once. */
	standin_fail(STANDIN_ibv_reg_mr, EFAULT);
	sigaction(SIGUSR1, &action, NULL);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &times, NULL))
		fail("timer");
}

static void stop_timer(void)
{
	timer_delete(timer);
	signal(SIGUSR1, SIG_IGN);
}

static void fork_in_handlers(char **arguments)
{
	uint32_t i;

	(void)arguments;
	begin();
	start_timer(fork_in_handler, 3000);
	for (i = 0; signals < 50; i++)
		make_failing_calls(0, i, 1);
	stop_timer();
	say(wait_for_all() == (unsigned int)signals ? "all were good" : "some were not");
}

static uint32_t calls_in_handler;

static void register_in_handler(int signal)
{
	int saved_errno = errno;

	(void)signal;
	make_failing_calls(1, calls_in_handler++, 1);
	errno = saved_errno;
}

static void register_in_handlers(char **arguments)
{
	uint32_t i;

	(void)arguments;
	begin();
	start_timer(register_in_handler, 100);
	for (i = 0; i < 5 * MANY || calls_in_handler < 1000; i++)
		make_failing_calls(0, i, 1);
	stop_timer();
	say("registered");
}

static void become_daemon(char **arguments)
{
	int ends[2];
	char byte;

	(void)arguments;
	if (pipe(ends))
		fail("pipe");
	if (!fork()) {
		setsid();
		if (fork())
			_exit(0);
		umask(0);
		if (chdir("/"))
			_exit(1);
		close(ends[0]);
		begin();
		make_calls(0, 0, MANY);
		if (write(ends[1], "d", 1) != 1)
			_exit(1);
		_exit(0);
	}
	close(ends[1]);
	while (read(ends[0], &byte, 1) == 1)
		printf("%c\n", byte);
	wait(NULL);
}

/* DIRECTORY is the new root. */
static void drop_privileges(char **arguments)
{
	begin();
	make_calls(0, 0, 10);
	if (chroot(arguments[0]) || chdir("/") || setgid(65534) || setuid(65534))
		fail("chroot");
	make_calls(0, 10, MANY);
	say("registered");
}

static void *register_from_small_stack(void *argument)
{
	begin();
	make_calls(0, 0, number(argument));
	return NULL;
}

static void use_small_stack(char **arguments)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 32 << 10);
	if (pthread_create(&thread, &attributes, register_from_small_stack, arguments[0]))
		fail("pthread_create");
	pthread_join(thread, NULL);
	say("registered");
}

static uint32_t calls_before_end;

/* Cancelled before its first call: it ends where it asks, and in no call. */
static void *register_cancelled(void *argument)
{
	pthread_cancel(pthread_self());
	begin();
	for (calls_before_end = 0; calls_before_end < number(argument); calls_before_end++)
		make_calls(0, calls_before_end, 1);
	pthread_testcancel();
	calls_before_end = 0;
	return NULL;
}

static void cancel_thread(char **arguments)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, register_cancelled, arguments[0]))
		fail("pthread_create");
	pthread_join(thread, NULL);
	printf("%u calls before it ended\n", calls_before_end);
}

/* Between two writes that a tracer of system calls sees. */
static void register_between_marks(char **arguments)
{
	begin();
	make_calls(0, 0, 100);
	if (write(STDOUT_FILENO, "from here\n", 10) != 10)
		fail("write");
	make_calls(0, 0, number(arguments[0]));
	if (write(STDOUT_FILENO, "to here\n", 8) != 8)
		fail("write");
}

static uint32_t calls_each;

static void *register_in_thread(void *argument)
{
	make_calls((uint32_t)(uintptr_t)argument, 0, calls_each);
	return NULL;
}

static void register_in_threads(char **arguments)
{
	pthread_t threads[THREADS];
	uintptr_t i;

	calls_each = number(arguments[0]);
	begin();
	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, register_in_thread, (void *)i);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	say("registered");
}

static pthread_barrier_t all_are_there;

static void *begin_together(void *argument)
{
	pthread_barrier_wait(&all_are_there);
	make_calls((uint32_t)(uintptr_t)argument, 0, 100);
	return NULL;
}

/* The first calls of the process, all at once, in the domain of nobody. */
static void begin_in_threads(char **arguments)
{
	pthread_t threads[16];
	uintptr_t i;

	(void)arguments;
	pthread_barrier_init(&all_are_there, NULL, 16);
	for (i = 0; i < 16; i++)
		pthread_create(&threads[i], NULL, begin_together, (void *)i);
	for (i = 0; i < 16; i++)
		pthread_join(threads[i], NULL);
	say("registered");
}

static const struct {
	const char *name;
	void (*go)(char **arguments);
	int arguments;
} ways[] = {
	{"some", register_some, 1},
	{"for-ever", register_until_killed, 1},
	{"without", register_without, 1},
	{"beside", register_beside, 1},
	{"limited", register_with_limit, 1},
	{"closing", register_after_closing, 1},
	{"closed-error", register_with_closed_error, 1},
	{"no-descriptors", register_without_descriptors, 1},
	{"little-memory", register_with_little_memory, 1},
	{"children", register_in_children, 2},
	{"fork-among-threads", fork_among_threads, 1},
	{"fork-beside-linker", fork_beside_the_linker, 1},
	{"clone-beside-linker", clone_beside_the_linker, 1},
	{"vfork", execute_another, 1},
	{"again", execute_itself, 1},
	{"leave", leave_at_once, 1},
	{"fork-in-handler", fork_in_handlers, 0},
	{"handler", register_in_handlers, 0},
	{"daemon", become_daemon, 0},
	{"drop", drop_privileges, 1},
	{"small-stack", use_small_stack, 1},
	{"cancelled", cancel_thread, 1},
	{"marks", register_between_marks, 1},
	{"threads", register_in_threads, 1},
	{"begin", begin_in_threads, 0},
};

int main(int argc, char **argv)
{
	size_t i;

	own_arguments = argv;
	standin_turn(STANDIN_KEEPS_NO_LOG, true);
	for (i = 0; argc > 1 && i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (strcmp(argv[1], ways[i].name) || argc - 2 != ways[i].arguments)
			continue;
		ways[i].go(argv + 2);
		return 0;
	}
	fprintf(stderr, "usage: %s WAY [ARGUMENT...]\n", argv[0]);
	return 2;
}
