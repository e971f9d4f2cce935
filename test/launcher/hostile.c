// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * hostile FILE SCRATCH
 *
 * Reads copies of an ELF file that are cut off, or in which bytes are changed, in all the ways in
 * which the launcher reads files. Ends well if every read ends; the sanitizers watch the rest.
 */
#include "library_facts.h"
#include "library_search.h"
#include "loader_model.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEP	  64
#define MUTATIONS 800
/* What the dynamic linker would load with it takes longer to tell: only some files are asked. */
#define MODEL_EVERY 16
/* Reading leaves memory behind, as the launcher may: so each process reads only some. */
#define READS_A_PROCESS 100

static unsigned char *original;
static size_t original_size;
static const char *scratch;

static void read_symbols(const struct elf_file *elf)
{
	struct elf_symbols symbols;
	struct elf_symbol symbol;
	size_t i;

	elf_symbols_read(&symbols, elf);
	for (i = 0; elf_symbol(&symbols, i, &symbol); i++)
		(void)strlen(symbol.name);
	elf_defines(&symbols, "ibv_reg_mr", "IBVERBS_1.1");
	elf_defines_version(&symbols, "IBVERBS_1.1");
	elf_needs_address_at_start(&symbols, 1);
}

static void read_scratch(size_t index)
{
	struct findings findings = {0};
	struct library_facts facts;
	struct loader_model model;
	struct elf_file elf;
	char *path = strdup(scratch);

	library_facts_read(&facts, path, &findings);
	if (elf_open(&elf, scratch))
		return;
	elf_interpreter(&elf);
	elf_binds_now(&elf);
	is_drop_in(&elf);
	read_symbols(&elf);
	if (index % MODEL_EVERY == 0) {
		loader_model_run(&model, &elf, "", NULL);
		find_real_library(&elf, "");
	}
	elf_close(&elf);
}

static void write_scratch(const unsigned char *bytes, size_t size)
{
	int fd = open(scratch, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size || close(fd)) {
		perror(scratch);
		exit(2);
	}
}

static unsigned int next_random(unsigned int *state)
{
	*state = *state * 1103515245 + 12345;
	return *state >> 8;
}

/* Most changes where the headers and tables are: in the first pages. */
static void mutate(unsigned char *copy, unsigned int seed)
{
	unsigned int state = seed, changes = 1 + seed % 8;
	size_t span;

	memcpy(copy, original, original_size);
	while (changes--) {
		span = next_random(&state) % 2 ? original_size : 4096;
		if (span > original_size)
			span = original_size;
		copy[16 + next_random(&state) % (span - 16)] = (unsigned char)next_random(&state);
	}
}

static void read_cut(size_t index)
{
	write_scratch(original, index * STEP < original_size ? index * STEP : original_size);
	read_scratch(index);
}

static void read_mutation(size_t index)
{
	unsigned char *copy = malloc(original_size);

	if (!copy)
		exit(2);
	mutate(copy, (unsigned int)index + 1);
	write_scratch(copy, original_size);
	read_scratch(index);
	free(copy);
}

static void read_all(size_t count, void (*read_one)(size_t index), const char *what)
{
	size_t first, i;
	int status = 0;
	pid_t child;

	for (first = 0; first < count; first += READS_A_PROCESS) {
		fflush(stdout);
		child = fork();
		if (!child) {
			for (i = first; i < first + READS_A_PROCESS && i < count; i++)
				read_one(i);
			_exit(0);
		}
		if (child < 0 || waitpid(child, &status, 0) != child || status) {
			printf("%s %zu to %zu: status %d\n", what, first, first + READS_A_PROCESS,
			       status);
			exit(1);
		}
	}
	printf("%zu %s\n", count, what);
}

static bool read_original(const char *path)
{
	FILE *file = fopen(path, "rb");
	long size = 0;

	if (!file)
		return false;
	if (!fseek(file, 0, SEEK_END))
		size = ftell(file);
	rewind(file);
	if (size >= 4096) {
		original_size = (size_t)size;
		original = malloc(original_size);
		if (original && fread(original, 1, original_size, file) != original_size)
			original_size = 0;
	}
	fclose(file);
	return original && original_size;
}

int main(int argc, char **argv)
{
	if (argc != 3 || !read_original(argv[1]))
		return 2;
	scratch = argv[2];
	read_all(original_size / STEP + 2, read_cut, "cuts");
	read_all(MUTATIONS, read_mutation, "mutations");
	return 0;
}
