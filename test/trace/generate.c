// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * generate FILE [NAME=VALUE]...
 *
 * Writes the trace of a program that never ran: threads that register memory from many places,
 * deregister most of it, leak some, fail now and then, and use buffers. The same arguments write
 * the same file.
 *
 *   records=N    calls (1000)
 *   threads=N    of that many threads (4)
 *   sites=N      from that many places (40)
 *   stack=N      with call stacks of N addresses (0)
 *   leak=N       one of N registrations is never deregistered (1000); 0: all are
 *   capacity=N   slots of the file (as many as records)
 *   keep=newest|oldest  (newest)
 *   rank=N host=NAME program=PATH pid=N    (-1, node1, /usr/bin/program, 1000)
 *   start=N      realtime of the start, in nanoseconds since 1970
 *   seed=N       another program (1)
 *   module=PATH  calls come from this file, with its build-id if id=HEX is given
 *   major=N minor=N     versions; minor > 0 makes header, entries and records longer
 *   small=1      tables have room for what is in them, and no more
 */
#define _GNU_SOURCE
#include "ibvbuf/trace.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_LIVE 4096
#define DEVICES	  2
#define MODULES	  6

struct plan {
	uint64_t records, threads, sites, stack, leak, capacity, start, seed, pid, major, minor,
		small;
	int64_t rank;
	bool oldest;
	const char *host, *program, *module, *id;
};

/* What is registered or allocated at the moment. */
struct live {
	uint64_t object, address, length, buffer;
	uint32_t lkey;
	uint16_t device;
};

struct state {
	const struct plan *plan;
	uint64_t random;
	uint64_t clock;
	uint64_t next_object;
	uint32_t next_key;
	struct live registered[MOST_LIVE], buffers[MOST_LIVE / 16];
	unsigned int registered_count, buffer_count;
	uint64_t registrations;
};

static uint64_t draw(struct state *state, uint64_t below)
{
	state->random ^= state->random << 13;
	state->random ^= state->random >> 7;
	state->random ^= state->random << 17;
	return state->random % below;
}

static const char *const module_names[MODULES] = {
	NULL, /* the program */
	"/usr/lib/x86_64-linux-gnu/libucs.so.0",
	"/usr/lib/x86_64-linux-gnu/ucx/libuct_ib.so.0",
	"/usr/lib/x86_64-linux-gnu/libnccl.so.2",
	"/usr/lib/x86_64-linux-gnu/librdmacm.so.1",
	"/usr/lib/x86_64-linux-gnu/libibverbs/libmlx5-rdmav34.so",
};

static uint64_t module_start(unsigned int module)
{
	return UINT64_C(0x7f0000000000) + module * UINT64_C(0x10000000);
}

/* A few places make most of the calls, as it is in programs. */
static uint64_t draw_caller(struct state *state)
{
	const uint64_t one = draw(state, state->plan->sites), other = draw(state, one + 1);

	return module_start((unsigned int)(other % MODULES)) + 0x1000 + other * 0x40;
}

static uint64_t draw_length(struct state *state)
{
	static const uint64_t lengths[] = {4096, 8192, 65536, 1 << 20, 4 << 20, 64 << 20};

	return lengths[draw(state, 6)];
}

static void make_registration(struct state *state, struct ibvbuf_trace_record *record)
{
	static const uint16_t calls[] = {IBVBUF_TRACE_REG_MR,	    IBVBUF_TRACE_REG_MR,
					 IBVBUF_TRACE_REG_MR_IOVA2, IBVBUF_TRACE_REG_MR_IOVA2,
					 IBVBUF_TRACE_REG_MR_IOVA,  IBVBUF_TRACE_REG_DMABUF_MR,
					 IBVBUF_TRACE_REG_MR_EX};
	static const int errors[] = {ENOMEM, EFAULT, EINVAL, EOPNOTSUPP, -1};
	struct live *live;

	record->call = calls[draw(state, 7)];
	record->length = draw_length(state);
	record->address = UINT64_C(0x7e0000000000) + draw(state, 1 << 24) * 4096;
	record->iova = record->address;
	record->access = draw(state, 4) ? 7 : (uint32_t)(1 | draw(state, 2) << 20);
	record->duration = 2000 + record->length / 40 + draw(state, 3000);
	if (record->call == IBVBUF_TRACE_REG_DMABUF_MR) {
		record->fd = (int32_t)(20 + draw(state, 100));
		record->offset = record->address % 65536;
		record->address = 0;
		if (!draw(state, 50)) {
			record->fd = -1;
			record->error = draw(state, 2) ? EBADF : EOPNOTSUPP;
			return;
		}
	}
	if (!draw(state, 200)) {
		record->error = errors[draw(state, 5)];
		return;
	}
	record->object = state->next_object += 0x40;
	record->lkey = state->next_key += 0x100;
	record->rkey = record->lkey;
	record->handle = record->lkey >> 8;
	state->registrations++;
	if (state->plan->leak && !(state->registrations % state->plan->leak))
		return;
	live = &state->registered[state->registered_count++];
	live->object = record->object;
	live->address = record->address;
	live->length = record->length;
	live->lkey = record->lkey;
	live->device = record->device;
}

static void make_deregistration(struct state *state, struct ibvbuf_trace_record *record)
{
	const unsigned int which = (unsigned int)draw(state, state->registered_count);
	struct live *live = &state->registered[which];

	record->call = IBVBUF_TRACE_DEREG_MR;
	record->duration = 1500 + live->length / 80 + draw(state, 1000);
	record->object = live->object;
	record->address = live->address;
	record->length = live->length;
	record->lkey = live->lkey;
	record->rkey = live->lkey;
	record->device = live->device;
	if (!draw(state, 3000)) {
		record->error = EBUSY;
		return;
	}
	*live = state->registered[--state->registered_count];
}

static void make_buffer(struct state *state, struct ibvbuf_trace_record *record)
{
	struct live *live = &state->buffers[state->buffer_count++];

	record->call = IBVBUF_TRACE_ALLOC_BUF;
	record->length = draw_length(state);
	record->address = UINT64_C(0x7d0000000000) + draw(state, 1 << 24) * 4096;
	record->buffer = state->next_object += 0x40;
	record->backing = (uint16_t)(1 + draw(state, 5));
	record->duration = 10000 + record->length / 100;
	live->buffer = record->buffer;
	live->address = record->address;
	live->length = record->length;
	live->object = record->backing;
}

static void free_buffer(struct state *state, struct ibvbuf_trace_record *record)
{
	struct live *live = &state->buffers[draw(state, state->buffer_count)];

	record->call = IBVBUF_TRACE_FREE_BUF;
	record->buffer = live->buffer;
	record->address = live->address;
	record->length = live->length;
	record->backing = (uint16_t)live->object;
	record->duration = 5000;
	*live = state->buffers[--state->buffer_count];
}

static void make_domain(struct state *state, struct ibvbuf_trace_record *record)
{
	record->call = IBVBUF_TRACE_ALLOC_PD;
	record->object = state->next_object += 0x40;
	record->device = (uint16_t)record->state;
	record->duration = 30000;
}

static void make_record(struct state *state, struct ibvbuf_trace_record *record, uint64_t number)
{
	const struct plan *plan = state->plan;
	uint64_t *stack = (uint64_t *)(record + 1);
	uint64_t i;

	memset(record, 0, sizeof(*record));
	record->fd = -1;
	record->thread = (uint32_t)(plan->pid + draw(state, plan->threads));
	record->device = (uint16_t)draw(state, DEVICES);
	record->pd = UINT64_C(0x55500000) + record->device * 64;
	record->caller = draw_caller(state);
	if (number < DEVICES) {
		record->state = number;
		make_domain(state, record);
	} else if (state->registered_count &&
		   (state->registered_count >= MOST_LIVE / 2 ||
		    draw(state, MOST_LIVE / 2) < state->registered_count + MOST_LIVE / 8)) {
		make_deregistration(state, record);
	} else if (!draw(state, 40) && state->buffer_count < MOST_LIVE / 16) {
		make_buffer(state, record);
	} else if (!draw(state, 40) && state->buffer_count) {
		free_buffer(state, record);
	} else {
		make_registration(state, record);
	}
	state->clock += record->duration / plan->threads + draw(state, 2000);
	record->time = state->clock - record->duration;
	/* a call may take its number a little later than it looked at the clock */
	if (number % 16 == 15)
		record->time -= 1500;
	record->stack_used = (uint16_t)plan->stack;
	for (i = 0; i < plan->stack; i++)
		stack[i] = i ? draw_caller(state) : record->caller;
	record->state = 2 * (number + 1);
}

static void copy_string(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
}

static void make_header(const struct plan *plan, struct ibvbuf_trace_header *header)
{
	const uint32_t longer = plan->minor ? 64 : 0;
	uint64_t records = sizeof(struct ibvbuf_trace_record) + plan->stack * 8 + longer;

	memcpy(header->magic, IBVBUF_TRACE_MAGIC, sizeof(header->magic));
	header->byte_order = IBVBUF_TRACE_BYTE_ORDER;
	header->version_major = (uint16_t)plan->major;
	header->version_minor = (uint16_t)plan->minor;
	header->header_size = (uint32_t)sizeof(*header) + longer;
	header->device_size = (uint32_t)sizeof(struct ibvbuf_trace_device) + longer;
	header->module_size = (uint32_t)sizeof(struct ibvbuf_trace_module) + longer;
	header->record_size = (uint32_t)((records + 63) / 64 * 64);
	header->device_capacity = plan->small ? DEVICES : 32;
	header->module_capacity = plan->small ? MODULES : 128;
	header->stack_capacity = (uint32_t)plan->stack;
	header->keep = plan->oldest ? IBVBUF_TRACE_KEEP_OLDEST : IBVBUF_TRACE_KEEP_NEWEST;
	header->devices_offset = plan->small ? header->header_size : 4096;
	header->modules_offset =
		header->devices_offset + (uint64_t)header->device_capacity * header->device_size;
	records = header->modules_offset + (uint64_t)header->module_capacity * header->module_size;
	header->records_offset = plan->small ? records : (records + 4095) / 4096 * 4096;
	header->record_capacity = plan->capacity;
	header->start_monotonic = UINT64_C(1000000000000);
	header->start_realtime = plan->start;
	header->process = (uint32_t)plan->pid;
	header->parent = (uint32_t)plan->pid - 1;
	header->user = 1000;
	header->rank = (int32_t)plan->rank;
	if (plan->rank >= 0)
		copy_string(header->rank_variable, sizeof(header->rank_variable), "SLURM_PROCID");
	copy_string(header->writer, sizeof(header->writer), "0.1.0");
	copy_string(header->host, sizeof(header->host), plan->host);
	copy_string(header->program, sizeof(header->program), plan->program);
	copy_string(header->library, sizeof(header->library),
		    "/usr/lib/x86_64-linux-gnu/libibverbs.so.1");
	header->claimed = plan->records;
	header->slots_allocated = plan->records < plan->capacity ? plan->records : plan->capacity;
	if (plan->oldest && plan->records > plan->capacity)
		header->dropped_full = plan->records - plan->capacity;
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void write_at(FILE *file, uint64_t offset, const void *from, size_t length)
{
	if (fseeko(file, (off_t)offset, SEEK_SET) || fwrite(from, length, 1, file) != 1)
		fail("write");
}

static void write_devices(FILE *file, const struct ibvbuf_trace_header *header)
{
	struct ibvbuf_trace_device device = {.state = 1};
	unsigned int i;

	for (i = 0; i < DEVICES; i++) {
		device.guid = UINT64_C(0x0c42a10300000000) + i;
		snprintf(device.name, sizeof(device.name), "mlx5_%u", i);
		write_at(file, header->devices_offset + (uint64_t)i * header->device_size, &device,
			 sizeof(device));
	}
}

static void read_build_id(struct ibvbuf_trace_module *module, const char *id)
{
	unsigned int byte;

	while (module->build_id_length < sizeof(module->build_id) &&
	       sscanf(id, "%2x", &byte) == 1) {
		module->build_id[module->build_id_length++] = (uint8_t)byte;
		id += 2;
	}
}

static void write_modules(FILE *file, const struct ibvbuf_trace_header *header,
			  const struct plan *plan)
{
	struct ibvbuf_trace_module module;
	unsigned int i;

	for (i = 0; i < MODULES; i++) {
		memset(&module, 0, sizeof(module));
		module.state = 1;
		module.since = header->start_monotonic;
		module.start = module_start(i);
		module.end = module.start + 0x10000000;
		module.bias = module.start;
		if (module_names[i])
			copy_string(module.path, sizeof(module.path), module_names[i]);
		else
			copy_string(module.path, sizeof(module.path),
				    plan->module ? plan->module : plan->program);
		if (!module_names[i] && plan->id)
			read_build_id(&module, plan->id);
		write_at(file, header->modules_offset + (uint64_t)i * header->module_size, &module,
			 sizeof(module));
	}
}

static void write_records(FILE *file, const struct ibvbuf_trace_header *header,
			  const struct plan *plan)
{
	static struct state state;
	static union {
		struct ibvbuf_trace_record record;
		unsigned char bytes[4096];
	} slot;
	uint64_t number;

	state.plan = plan;
	state.random = plan->seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
	state.clock = header->start_monotonic;
	state.next_object = UINT64_C(0x5560000000);
	state.next_key = 0x1000;
	for (number = 0; number < plan->records; number++) {
		make_record(&state, &slot.record, number);
		if (plan->oldest && number >= plan->capacity)
			break;
		if (number % plan->capacity == 0 &&
		    fseeko(file, (off_t)header->records_offset, SEEK_SET))
			fail("seek");
		if (fwrite(&slot, header->record_size, 1, file) != 1)
			fail("write");
	}
}

static bool set_number(const char *argument, const char *name, uint64_t *value)
{
	const size_t length = strlen(name);

	if (strncmp(argument, name, length) != 0 || argument[length] != '=')
		return false;
	*value = (uint64_t)strtoll(argument + length + 1, NULL, 0);
	return true;
}

static bool set_string(const char *argument, const char *name, const char **value)
{
	const size_t length = strlen(name);

	if (strncmp(argument, name, length) != 0 || argument[length] != '=')
		return false;
	*value = argument + length + 1;
	return true;
}

static void read_plan(struct plan *plan, int argc, char **argv)
{
	uint64_t rank = UINT64_MAX;
	const char *keep = NULL;
	int i;

	for (i = 2; i < argc; i++) {
		if (!set_number(argv[i], "records", &plan->records) &&
		    !set_number(argv[i], "threads", &plan->threads) &&
		    !set_number(argv[i], "sites", &plan->sites) &&
		    !set_number(argv[i], "stack", &plan->stack) &&
		    !set_number(argv[i], "leak", &plan->leak) &&
		    !set_number(argv[i], "capacity", &plan->capacity) &&
		    !set_number(argv[i], "start", &plan->start) &&
		    !set_number(argv[i], "seed", &plan->seed) &&
		    !set_number(argv[i], "pid", &plan->pid) &&
		    !set_number(argv[i], "rank", &rank) &&
		    !set_number(argv[i], "major", &plan->major) &&
		    !set_number(argv[i], "minor", &plan->minor) &&
		    !set_number(argv[i], "small", &plan->small) &&
		    !set_string(argv[i], "keep", &keep) &&
		    !set_string(argv[i], "host", &plan->host) &&
		    !set_string(argv[i], "program", &plan->program) &&
		    !set_string(argv[i], "module", &plan->module) &&
		    !set_string(argv[i], "id", &plan->id)) {
			fprintf(stderr, "%s: what is '%s'?\n", argv[0], argv[i]);
			exit(2);
		}
	}
	plan->rank = (int64_t)rank;
	plan->oldest = keep && !strcmp(keep, "oldest");
	if (!plan->capacity)
		plan->capacity = plan->records ? plan->records : 1;
	if (plan->stack > 64 || !plan->threads || !plan->sites) {
		fprintf(stderr, "%s: such a file cannot be\n", argv[0]);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	struct plan plan = {.records = 1000,
			    .threads = 4,
			    .sites = 40,
			    .leak = 1000,
			    .start = UINT64_C(1760000000000000000),
			    .seed = 1,
			    .pid = 1000,
			    .major = IBVBUF_TRACE_VERSION_MAJOR,
			    .host = "node1",
			    .program = "/usr/bin/program"};
	struct ibvbuf_trace_header header = {0};
	FILE *file;

	if (argc < 2) {
		fprintf(stderr, "usage: %s file [name=value]...\n", argv[0]);
		return 2;
	}
	read_plan(&plan, argc, argv);
	file = fopen(argv[1], "w");
	if (!file)
		fail(argv[1]);
	make_header(&plan, &header);
	write_at(file, 0, &header, sizeof(header));
	write_devices(file, &header);
	write_modules(file, &header, &plan);
	/* what is between the last module and the first record */
	write_at(file, header.records_offset - 1, "", 1);
	write_records(file, &header, &plan);
	if (fclose(file))
		fail(argv[1]);
	return 0;
}
