// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include "trace_file.h"
#include "../launcher/message.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What no file has; a larger one is damaged, and is not to make a reader busy for hours. */
#define MOST_ENTRIES 4096
#define MOST_BYTES   65536

/* Places at which the counter of calls is held against the records. */
#define PROBES 64

size_t trace_file_read(const struct trace_file *file, uint64_t offset, void *to, size_t length)
{
	size_t done = 0;
	ssize_t got;

	while (done < length) {
		if (offset > INT64_MAX - length)
			break;
		got = pread(file->fd, (char *)to + done, length - done, (off_t)(offset + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

static void find_damage(struct trace_file *file, char *what)
{
	if (!file->damage)
		file->damage = what;
	else
		free(what);
}

#define END_STRING(array) ((array)[sizeof(array) - 1] = '\0')

static void end_strings(struct ibvbuf_trace_header *header)
{
	END_STRING(header->rank_variable);
	END_STRING(header->writer);
	END_STRING(header->host);
	END_STRING(header->program);
	END_STRING(header->library);
}

static bool is_zero(const void *memory, size_t length)
{
	const unsigned char *byte = memory;

	while (length && !*byte) {
		byte++;
		length--;
	}
	return !length;
}

/* NULL if the records can be found by this header. */
static char *header_problem(const struct ibvbuf_trace_header *header, size_t length)
{
	if (length < sizeof(header->magic) ||
	    memcmp(header->magic, IBVBUF_TRACE_MAGIC, sizeof(header->magic)) != 0)
		return print_string(is_zero(header, length)
					    ? "nothing has been written into it yet"
					    : "it is not a trace file of ibvbuf-preload");
	if (length < offsetof(struct ibvbuf_trace_header, header_size))
		return print_string("it is cut short: even its header is not whole");
	if (header->byte_order == __builtin_bswap32(IBVBUF_TRACE_BYTE_ORDER))
		return print_string("it was written on a machine of the other byte order");
	if (header->byte_order != IBVBUF_TRACE_BYTE_ORDER)
		return print_string("its header is damaged");
	if (header->version_major != IBVBUF_TRACE_VERSION_MAJOR)
		return print_string("its format is version %u.%u, which this program does not know "
				    "(it knows %u.%u)",
				    header->version_major, header->version_minor,
				    IBVBUF_TRACE_VERSION_MAJOR, IBVBUF_TRACE_VERSION_MINOR);
	if (length < sizeof(*header))
		return print_string("it is cut short: even its header is not whole");
	if (header->header_size < sizeof(*header))
		return print_string("its header is damaged: it has %" PRIu32 " bytes",
				    header->header_size);
	if (header->record_size < sizeof(struct ibvbuf_trace_record) ||
	    header->record_size > MOST_BYTES || header->record_size % 64)
		return print_string("its header is damaged: records of %" PRIu32 " bytes",
				    header->record_size);
	if (header->records_offset < header->header_size || header->records_offset > INT64_MAX)
		return print_string("its header is damaged: records from byte %" PRIu64 " on",
				    header->records_offset);
	if (!header->record_capacity)
		return print_string("its header is damaged: it has no room for records");
	return NULL;
}

/* Whether a table is where it can be read; one that is not is left out. */
static bool check_table(struct trace_file *file, const char *what, uint64_t offset, uint32_t count,
			uint32_t size, size_t known)
{
	if (!count)
		return false;
	if (count > MOST_ENTRIES || size > MOST_BYTES || size < known || offset > INT64_MAX) {
		find_damage(file, print_string("its table of %s is damaged", what));
		return false;
	}
	return true;
}

/*
 * The entries that were not there before; returns one past the last. `known` bytes of each of
 * `size` are taken. The first member of both kinds is their state.
 */
static size_t read_table(const struct trace_file *file, uint64_t offset, size_t count, size_t size,
			 void *table, size_t known)
{
	size_t entry, used = 0, length = size * count, chunk, first, i;
	unsigned char *bytes;
	uint64_t state;

	chunk = MOST_BYTES / size * size;
	if (chunk > length)
		chunk = length;
	bytes = grow(NULL, chunk, 1);
	for (first = 0; first < count; first += chunk / size) {
		length = trace_file_read(file, offset + first * size, bytes, chunk);
		for (i = 0; i < length / size && first + i < count; i++) {
			entry = first + i;
			memcpy(&state, bytes + i * size, sizeof(state));
			if (state != 1)
				continue;
			used = entry + 1;
			memcpy(&state, (char *)table + entry * known, sizeof(state));
			if (!state)
				memcpy((char *)table + entry * known, bytes + i * size, known);
		}
		if (length < chunk)
			break;
	}
	free(bytes);
	return used;
}

static void read_devices(struct trace_file *file)
{
	const struct ibvbuf_trace_header *header = &file->header;
	size_t i, known = file->device_count, count;

	if (!file->devices)
		return;
	count = read_table(file, header->devices_offset, header->device_capacity,
			   header->device_size, file->devices, sizeof(*file->devices));
	for (i = 0; i < count; i++)
		END_STRING(file->devices[i].name);
	file->device_count = count > known ? count : known;
}

static void read_modules(struct trace_file *file)
{
	const struct ibvbuf_trace_header *header = &file->header;
	size_t i, known = file->module_count, count;
	struct ibvbuf_trace_module *module;

	if (!file->modules)
		return;
	count = read_table(file, header->modules_offset, header->module_capacity,
			   header->module_size, file->modules, sizeof(*file->modules));
	for (i = 0; i < count; i++) {
		module = &file->modules[i];
		END_STRING(module->path);
		if (module->build_id_length > sizeof(module->build_id))
			module->build_id_length = sizeof(module->build_id);
	}
	file->module_count = count > known ? count : known;
}

/* Untouched pages of it cost nothing. */
static void *new_table(uint32_t count, size_t size)
{
	void *table = calloc(count, size);

	if (!table)
		fail("out of memory");
	return table;
}

static void prepare_tables(struct trace_file *file)
{
	const struct ibvbuf_trace_header *header = &file->header;

	if (check_table(file, "devices", header->devices_offset, header->device_capacity,
			header->device_size, sizeof(*file->devices)))
		file->devices = new_table(header->device_capacity, sizeof(*file->devices));
	if (check_table(file, "modules", header->modules_offset, header->module_capacity,
			header->module_size, sizeof(*file->modules)))
		file->modules = new_table(header->module_capacity, sizeof(*file->modules));
	read_devices(file);
	read_modules(file);
}

/* The size after the counters: what they speak of was there before. */
static void read_size(struct trace_file *file)
{
	const struct ibvbuf_trace_header *header = &file->header;
	struct stat status;

	if (!fstat(file->fd, &status) && status.st_size > 0)
		file->size = (uint64_t)status.st_size;
	else
		file->size = 0;
	file->slots = 0;
	if (file->size > header->records_offset)
		file->slots = (file->size - header->records_offset) / header->record_size;
	if (file->slots > header->record_capacity)
		file->slots = header->record_capacity;
}

static bool read_counters(struct trace_file *file)
{
	const size_t offset = offsetof(struct ibvbuf_trace_header, claimed);
	const size_t length = sizeof(file->header) - offset;
	struct ibvbuf_trace_header header;

	if (trace_file_read(file, offset, (char *)&header + offset, length) < length)
		return false;
	memcpy((char *)&file->header + offset, (char *)&header + offset, length);
	return true;
}

/* The number that a slot holds; false if it holds none that belongs there. */
static bool slot_number(const struct ibvbuf_trace_header *header, uint64_t slot, uint64_t state,
			uint64_t *number)
{
	*number = state / 2 - 1;
	return state && state % 2 == 0 && *number % header->record_capacity == slot;
}

/* Whether the counter of calls and the record agree. */
static bool number_fits(const struct ibvbuf_trace_header *header, uint64_t number)
{
	if (number >= header->claimed)
		return false;
	return header->keep == IBVBUF_TRACE_KEEP_OLDEST ||
	       header->claimed - number <= header->record_capacity;
}

/*
 * Whether what was looked at here and there says that the counter is wrong: there are records, and
 * none is one of those that the counter lets be there.
 */
static bool counter_is_wrong(struct trace_file *file)
{
	uint64_t states[PROBES] = {0}, slots[PROBES], number;
	unsigned int i, fitting = 0, found = 0;

	for (i = 0; i < PROBES; i++) {
		slots[i] = i < PROBES / 2 ? i
					  : (uint64_t)((__uint128_t)file->slots * (i - PROBES / 2) /
						       (PROBES / 2));
		if (slots[i] < file->slots)
			trace_file_read(file,
					file->header.records_offset +
						slots[i] * file->header.record_size,
					&states[i], sizeof(states[i]));
	}
	read_counters(file);
	for (i = 0; i < PROBES; i++) {
		if (!slot_number(&file->header, slots[i], states[i], &number))
			continue;
		found++;
		fitting += number_fits(&file->header, number);
	}
	return found && !fitting;
}

static void repair_counter(struct trace_file *file)
{
	const uint32_t size = file->header.record_size;
	const size_t chunk = MOST_BYTES / size;
	uint64_t slot, state, number, most = 0;
	unsigned char *bytes;
	size_t got, i;

	bytes = grow(NULL, chunk, size);
	for (slot = 0; slot < file->slots; slot += got) {
		got = trace_file_read(file, file->header.records_offset + slot * size, bytes,
				      chunk * size) /
		      size;
		for (i = 0; i < got; i++) {
			memcpy(&state, bytes + i * size, sizeof(state));
			if (slot_number(&file->header, slot + i, state, &number) && number >= most)
				most = number + 1;
		}
		if (got < chunk)
			break;
	}
	free(bytes);
	find_damage(file, print_string("its header counts %" PRIu64 " calls, its records %" PRIu64,
				       file->header.claimed, most));
	file->claimed = most;
}

struct trace_file *trace_file_open(const char *path, char **problem)
{
	struct trace_file *file = grow(NULL, 1, sizeof(*file));
	struct stat status;
	size_t length;

	memset(file, 0, sizeof(*file));
	file->path = path;
	/* A FIFO must not make anybody wait for a writer. */
	file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (file->fd < 0 || fstat(file->fd, &status)) {
		*problem = print_string("%s", strerror(errno));
		goto close;
	}
	if (!S_ISREG(status.st_mode)) {
		*problem = print_string(S_ISDIR(status.st_mode) ? "it is a folder"
								: "it is not a regular file");
		goto close;
	}
	file->file_system = status.st_dev;
	file->inode = status.st_ino;
	length = trace_file_read(file, 0, &file->header, sizeof(file->header));
	if (!length) {
		*problem = print_string("it is empty");
		goto close;
	}
	*problem = header_problem(&file->header, length);
	if (*problem)
		goto close;
	end_strings(&file->header);
	read_size(file);
	if (file->header.slots_allocated > file->slots)
		find_damage(file, print_string("it is cut short: of %" PRIu64
					       " records, the last %" PRIu64 " are missing",
					       file->header.slots_allocated,
					       file->header.slots_allocated - file->slots));
	if (file->header.stack_capacity >
	    (file->header.record_size - sizeof(struct ibvbuf_trace_record)) / sizeof(uint64_t))
		find_damage(file, print_string("its call stacks are longer than its records"));
	prepare_tables(file);
	if (counter_is_wrong(file))
		repair_counter(file);
	else
		file->claimed = file->header.claimed;
	return file;

close:
	trace_file_close(file);
	return NULL;
}

void trace_file_close(struct trace_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	free(file->devices);
	free(file->modules);
	free(file->damage);
	free(file);
}

void trace_file_refresh(struct trace_file *file)
{
	uint64_t before = file->header.claimed;

	if (read_counters(file) && file->header.claimed > before &&
	    file->header.claimed > file->claimed)
		file->claimed = file->header.claimed;
	read_size(file);
	read_devices(file);
	read_modules(file);
}

uint64_t trace_file_realtime(const struct trace_file *file, uint64_t monotonic)
{
	return file->header.start_realtime + (monotonic - file->header.start_monotonic);
}

const char *trace_file_device(const struct trace_file *file, uint16_t device)
{
	if (device >= file->device_count || !file->devices[device].state)
		return NULL;
	return file->devices[device].name;
}

uint64_t trace_file_dropped(const struct trace_file *file)
{
	return file->header.dropped_no_space + file->header.dropped_full +
	       file->header.dropped_busy;
}
