// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The writers of a file share nothing but the counter of calls. Who takes number N from it owns
 * slot N modulo the capacity until he has stored the state of that record.
 *
 * In the first round a slot is zero, and only its owner stores to it. Later it holds a record,
 * which the new owner makes unreadable (an odd state) before he overwrites it. A slot that is not
 * readable then belongs to a call of an earlier round that has not finished its record, and one
 * with a later record has been passed on; it is left alone, and the new record is dropped and
 * counted. So no two threads ever store to a slot at the same time, and none waits for another.
 */
#define _GNU_SOURCE
#include "recorder.h"
#include "process.h"
#include "trace_devices.h"
#include "trace_file.h"
#include "trace_modules.h"
#include "trace_space.h"

#include <execinfo.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A stack holds some frames of ours before the caller's. */
#define OWN_FRAMES 8

/**
 * struct thread - what is known of the calling thread
 * @depth: calls that are under way
 * @id: the kernel's, in the process of that generation
 * @generation: of @id
 */
struct thread {
	uint64_t generation;
	uint32_t depth;
	uint32_t id;
};

/*
 * Of the model that asks nobody for memory. It takes a few bytes of what the C library sets aside
 * for libraries that are loaded late.
 */
static __thread struct thread thread __attribute__((tls_model("initial-exec")));

void recorder_begin(struct trace_call *call, enum ibvbuf_trace_call which, const void *caller)
{
	static const struct ibvbuf_trace_record blank = {
		.device = IBVBUF_TRACE_NO_DEVICE,
		.fd = -1,
	};
	const struct ibvbuf_trace_record *from = &blank;

	if (thread.depth++)
		return;
	call->is_recorded = true;
	/* The compiler is not to see that it is zero for the most part: "rep stos" takes longer. */
	__asm__("" : "+r"(from));
	call->record = *from;
	call->record.call = (uint16_t)which;
	call->record.caller = (uintptr_t)caller;
	call->record.time = trace_clock(CLOCK_MONOTONIC);
}

static uint32_t thread_id(uint64_t generation)
{
	if (__builtin_expect(thread.generation != generation, 0)) {
		thread.id = (uint32_t)syscall(SYS_gettid);
		thread.generation = generation;
	}
	return thread.id;
}

static void drop(uint64_t *counter)
{
	__atomic_add_fetch(counter, 1, __ATOMIC_RELAXED);
}

static bool has_space(struct trace_file *file, uint64_t slot)
{
	/* acquire: pairs with the release in trace_space.c */
	return slot < __atomic_load_n(&file->header->slots_allocated, __ATOMIC_ACQUIRE);
}

/* Ask for space half a step ahead, so that nobody finds none. */
static void ask_ahead(struct trace_file *file, uint64_t number, uint64_t now)
{
	struct ibvbuf_trace_header *header = file->header;
	uint64_t allocated = __atomic_load_n(&header->slots_allocated, __ATOMIC_RELAXED);

	if (__builtin_expect(number + file->half_step >= allocated, 0) &&
	    allocated < header->record_capacity)
		trace_space_extend(file, now, number < allocated);
}

/* The slot of a number. The rounds are long: a division is wanted once in each. */
static uint64_t slot_of(struct trace_file *file, uint64_t number)
{
	uint64_t capacity = file->header->record_capacity;
	uint64_t start = __atomic_load_n(&file->round_start, __ATOMIC_RELAXED);

	/* Also if it is ahead of a thread that was held up. */
	if (__builtin_expect(number - start >= capacity, 0)) {
		start = number - number % capacity;
		__atomic_store_n(&file->round_start, start, __ATOMIC_RELAXED);
	}
	return number - start;
}

/**
 * claim - a slot for a record, or NULL if it is dropped
 * @state: set to what makes the record readable
 */
static struct ibvbuf_trace_record *claim(struct trace_file *file, uint64_t now, uint64_t *state)
{
	struct ibvbuf_trace_header *header = file->header;
	uint64_t capacity = header->record_capacity;
	uint64_t number = __atomic_load_n(&header->claimed, __ATOMIC_RELAXED);
	struct ibvbuf_trace_record *slot;
	bool is_used;
	uint64_t before;

	/* A number is not taken for a record that is known to be dropped. */
	if (number >= capacity && header->keep == IBVBUF_TRACE_KEEP_OLDEST) {
		drop(&header->dropped_full);
		return NULL;
	}
	ask_ahead(file, number, now);
	if (number < capacity && !has_space(file, number)) {
		drop(&header->dropped_no_space);
		return NULL;
	}

	number = __atomic_fetch_add(&header->claimed, 1, __ATOMIC_RELAXED);
	*state = 2 * (number + 1);
	is_used = number >= capacity;
	/* Many came at once. */
	if (is_used && header->keep == IBVBUF_TRACE_KEEP_OLDEST) {
		drop(&header->dropped_full);
		return NULL;
	}
	number = slot_of(file, number);
	/* The same: more than are asked for ahead. */
	if (!has_space(file, number))
		trace_space_extend(file, now, false);
	if (!has_space(file, number)) {
		drop(&header->dropped_no_space);
		return NULL;
	}
	slot = (struct ibvbuf_trace_record *)(void *)(file->records + number * header->record_size);
	if (!is_used)
		return slot;
	before = __atomic_load_n(&slot->state, __ATOMIC_RELAXED);
	if (!before || before % 2 || before > *state ||
	    /* acquire: pairs with the release in recorder_end() of the record that was there */
	    !__atomic_compare_exchange_n(&slot->state, &before, *state - 1, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED)) {
		drop(&header->dropped_busy);
		return NULL;
	}
	/* release: pairs with the fence of a reader, who must not take the new for the old */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	return slot;
}

/* The stack from the caller's return address on. Apart, for calls whose stack is not wanted. */
static __attribute__((noinline)) uint16_t
walk_stack(struct trace_file *file, const struct ibvbuf_trace_record *record, uint64_t *stack)
{
	int wanted = (int)file->header->stack_capacity;
	void *frames[TRACE_STACK_MAX + OWN_FRAMES];
	int count = backtrace(frames, wanted + OWN_FRAMES);
	int first = 0, i;

	while (first < count && (uintptr_t)frames[first] != record->caller)
		first++;
	if (first == count) {
		stack[0] = record->caller;
		return 1;
	}
	for (i = 0; i < wanted && first + i < count; i++) {
		stack[i] = (uintptr_t)frames[first + i];
		trace_module_enter(file, stack[i], record->time);
	}
	return (uint16_t)i;
}

static void write_record(struct trace_file *file, struct ibvbuf_trace_record *record)
{
	uint64_t now = record->time + record->duration;
	uint64_t stack[TRACE_STACK_MAX];
	struct ibvbuf_trace_record *slot;
	uint64_t state;

	trace_module_enter(file, record->caller, record->time);
	record->device = trace_device_enter(file, record->device);
	if (file->header->stack_capacity)
		record->stack_used = walk_stack(file, record, stack);
	slot = claim(file, now, &state);
	if (!slot)
		return;
	memcpy((char *)slot + sizeof(slot->state), (char *)record + sizeof(record->state),
	       sizeof(*slot) - sizeof(slot->state));
	if (record->stack_used)
		memcpy(slot + 1, stack, record->stack_used * sizeof(stack[0]));
	/* release: pairs with the acquire of a reader, and of who overwrites the record */
	__atomic_store_n(&slot->state, state, __ATOMIC_RELEASE);
}

static const char *const functions[] = {
#define FUNCTION(number, name, function) [number] = (function),
	IBVBUF_TRACE_CALLS(FUNCTION)
#undef FUNCTION
};

void recorder_end(struct trace_call *call)
{
	struct ibvbuf_trace_record *record = &call->record;
	struct trace_file *file;
	uint64_t generation;

	if (call->is_recorded) {
		generation = process_generation();
		record->thread = thread_id(generation);
		if (__builtin_expect(trace_probe_is_attached(), 0))
			trace_probe_call(functions[record->call], record);
		if (*config_get()->trace) {
			file = trace_file_get(generation, record->time);
			if (file)
				write_record(file, record);
		}
		errno = call->saved_errno;
	}
	/* Not before: what all this calls is not recorded. */
	thread.depth--;
}
