// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "program.h"
#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the kernel reads of a script, and how far it follows one to another. */
#define SCRIPT_HEAD  256
#define SCRIPT_DEPTH 5

static int executable_error(const char *path)
{
	struct stat status;

	if (stat(path, &status))
		return errno;
	if (!S_ISREG(status.st_mode))
		return EACCES;
	return access(path, X_OK) ? errno : 0;
}

static int search_path(const char *name, char **path)
{
	const char *variable = getenv("PATH");
	struct string_list folders;
	int error, answer = ENOENT;
	size_t i;

	*path = print_string("%s", name);
	if (strchr(name, '/'))
		return executable_error(name);
	if (!*name)
		return ENOENT;
	folders = string_list_split(variable ? variable : "/bin:/usr/bin", ":");
	/* As execvp() has it: an empty list holds the current folder. */
	if (!folders.count)
		string_list_add(&folders, "");
	for (i = 0; i < folders.count; i++) {
		char *candidate =
			print_string("%s/%s", *folders.items[i] ? folders.items[i] : ".", name);

		error = executable_error(candidate);
		if (!error) {
			*path = candidate;
			return 0;
		}
		if (error == EACCES)
			answer = error;
	}
	return answer;
}

/* The beginning of a file, with a zero behind it; its length, or -1. */
static ssize_t read_head(const char *path, char head[SCRIPT_HEAD])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t length;

	if (fd < 0)
		return -1;
	length = read(fd, head, SCRIPT_HEAD - 1);
	close(fd);
	head[length < 0 ? 0 : length] = '\0';
	return length;
}

/* What the kernel refuses execvp(3) hands to this one, which takes it if it is a text. */
static char *shell_of_text(const char *head, ssize_t length)
{
	bool is_text = length >= 0 && !memchr(head, '\0', (size_t)length) &&
		       strncmp(head, ELFMAG, SELFMAG) != 0;

	return is_text ? print_string("/bin/sh") : NULL;
}

/* Of options of env(1) in a word: whether the value of the last is the next word. */
static bool takes_next_word(const char *word)
{
	/* -S has one too: but that is the rest of the line, in which we are already */
	static const char with_value[] = "uCaS";

	if (word[1] == '-')
		return !strcmp(word, "--unset") || !strcmp(word, "--chdir") ||
		       !strcmp(word, "--argv0");
	word = strpbrk(word + 1, with_value);
	return word && *word != 'S' && !word[1];
}

/*
 * The name of what a script is handed to: by its "#!" line, or for want of one if it `is_named`,
 * and nobody but execvp() has seen it; NULL if it is no script.
 */
static char *script_interpreter(const char *path, bool is_named)
{
	char head[SCRIPT_HEAD], *rest, *word;
	ssize_t length = read_head(path, head);
	const char *base;
	bool skip;

	if (length < 2 || head[0] != '#' || head[1] != '!')
		return is_named ? shell_of_text(head, length) : NULL;
	head[strcspn(head, "\n")] = '\0';
	rest = head + 2;
	word = strtok_r(rest, " \t", &rest);
	if (!word)
		return NULL;
	base = strrchr(word, '/');
	if (strcmp(base ? base + 1 : word, "env") != 0)
		return print_string("%s", word);

	/* env's own options and variables; what follows is looked for in PATH */
	do {
		skip = word && *word == '-' && takes_next_word(word);
		word = strtok_r(NULL, " \t", &rest);
	} while (word && (skip || *word == '-' || strchr(word, '=')));
	return word ? print_string("%s", word) : print_string("env");
}

void program_find(struct program *program, const char *name)
{
	char *interpreter;
	bool is_named;

	memset(program, 0, sizeof(*program));
	for (;;) {
		program->error = search_path(name, &program->path);
		if (program->error)
			return;
		program->error = elf_open(&program->elf, program->path);
		if (program->error != ENOEXEC)
			return;
		is_named = program->scripts.count == 0;
		interpreter = script_interpreter(program->path, is_named);
		if (!interpreter || program->scripts.count == SCRIPT_DEPTH)
			return;
		string_list_add(&program->scripts, program->path);
		name = interpreter;
	}
}
