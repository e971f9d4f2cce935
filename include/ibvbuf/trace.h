/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The trace file of ibvbuf-preload, version 1.
 *
 * A file is what one process did: a header, a table of devices, a table of modules, and records of
 * one size, in this order, at the offsets that the header names. All integers are the writer's own;
 * byte_order tells whether they are the reader's, too. The writer maps the file and stores into it;
 * so a file can be read at any time, while its process runs and after it was killed.
 *
 *   header     one struct ibvbuf_trace_header
 *   devices    device_capacity of struct ibvbuf_trace_device
 *   modules    module_capacity of struct ibvbuf_trace_module
 *   records    record_capacity slots of record_size bytes, each a struct ibvbuf_trace_record and,
 *              after it, up to stack_capacity return addresses of 8 bytes
 *
 * The file ends where space was allocated: slots_allocated slots, which grows in steps. A slot, an
 * entry of a table or a part of the header that was never written is zero.
 *
 * A record is there or is not. Its `state` is stored last: until then a reader finds an odd number
 * there, or what was there before. The call that takes number N (from 0 on, in the order in which
 * calls ended) writes slot N modulo record_capacity, and makes its state 2 * (N + 1). To read a
 * record while it may be overwritten: load the state (acquire), copy, load the state again after an
 * acquire fence; if both are the same even number, the copy is whole.
 *
 * Version: a reader of this version reads files with this version_major. A larger version_minor
 * adds to the reserved parts, or makes records or tables' entries longer; what is known stays where
 * it is.
 */
#ifndef IBVBUF_TRACE_H
#define IBVBUF_TRACE_H

#include <stdint.h>

#define IBVBUF_TRACE_MAGIC	   "ibvtrace"
#define IBVBUF_TRACE_BYTE_ORDER	   UINT32_C(0x01020304)
#define IBVBUF_TRACE_VERSION_MAJOR 1
#define IBVBUF_TRACE_VERSION_MINOR 0

/*
 * The calls: number, name here, name of the function. Those of the application, or of a library
 * that it uses; what libibverbs calls in its turn to do them is not recorded.
 */
#define IBVBUF_TRACE_CALLS(CALL)                                                                   \
	CALL(1, REG_MR, "ibv_reg_mr")                                                              \
	CALL(2, REG_MR_IOVA, "ibv_reg_mr_iova")                                                    \
	CALL(3, REG_MR_IOVA2, "ibv_reg_mr_iova2")                                                  \
	CALL(4, REG_DMABUF_MR, "ibv_reg_dmabuf_mr")                                                \
	CALL(5, REG_MR_EX, "ibv_reg_mr_ex")                                                        \
	CALL(6, REG_BUF_MR, "ibv_reg_buf_mr")                                                      \
	CALL(7, REREG_MR, "ibv_rereg_mr")                                                          \
	CALL(8, DEREG_MR, "ibv_dereg_mr")                                                          \
	CALL(9, IMPORT_MR, "ibv_import_mr")                                                        \
	CALL(10, UNIMPORT_MR, "ibv_unimport_mr")                                                   \
	CALL(11, REG_DM_MR, "ibv_reg_dm_mr")                                                       \
	CALL(12, ALLOC_NULL_MR, "ibv_alloc_null_mr")                                               \
	CALL(13, ALLOC_MW, "ibv_alloc_mw")                                                         \
	CALL(14, DEALLOC_MW, "ibv_dealloc_mw")                                                     \
	CALL(15, ALLOC_BUF, "ibv_alloc_buf")                                                       \
	CALL(16, FREE_BUF, "ibv_free_buf")                                                         \
	CALL(17, EXPORT_BUF_DMABUF_FD, "ibv_export_buf_dmabuf_fd")                                 \
	CALL(18, ALLOC_PD, "ibv_alloc_pd")                                                         \
	CALL(19, IMPORT_PD, "ibv_import_pd")                                                       \
	CALL(20, ALLOC_PARENT_DOMAIN, "ibv_alloc_parent_domain")                                   \
	CALL(21, DEALLOC_PD, "ibv_dealloc_pd")                                                     \
	CALL(22, UNIMPORT_PD, "ibv_unimport_pd")

enum ibvbuf_trace_call {
#define IBVBUF_TRACE_CALL(number, name, function) IBVBUF_TRACE_##name = (number),
	IBVBUF_TRACE_CALLS(IBVBUF_TRACE_CALL)
#undef IBVBUF_TRACE_CALL
};

/* What a buffer is made of. */
enum ibvbuf_trace_backing {
	IBVBUF_TRACE_BACKING_NONE = 0, /* no buffer, or one that is not known */
	IBVBUF_TRACE_BACKING_ANONYMOUS = 1,
	IBVBUF_TRACE_BACKING_HUGETLB = 2,
	IBVBUF_TRACE_BACKING_DMA_HEAP = 3,
	IBVBUF_TRACE_BACKING_UDMABUF = 4,
	IBVBUF_TRACE_BACKING_NATIVE = 5, /* the library's own buffer */
};

/* What happens when the file is full. */
enum ibvbuf_trace_keep {
	IBVBUF_TRACE_KEEP_NEWEST = 0, /* the oldest record is overwritten */
	IBVBUF_TRACE_KEEP_OLDEST = 1, /* the new record is dropped, and counted */
};

#define IBVBUF_TRACE_NO_DEVICE UINT16_C(0xffff)

/**
 * struct ibvbuf_trace_record - a call that has returned
 * @state: 0 if the slot was never used; odd while it is written; 2 * (number of the call + 1)
 * @time: when the call began: CLOCK_MONOTONIC, in nanoseconds
 * @duration: nanoseconds until it returned
 * @thread: the kernel's thread id of the caller
 * @call: enum ibvbuf_trace_call; a number that is not known is of a later version
 * @stack_used: return addresses after this struct: the caller's first
 * @error: 0, or the errno that the call failed with; of a call that failed and set none, -1
 * @device: entry in the table of devices, or IBVBUF_TRACE_NO_DEVICE
 * @backing: enum ibvbuf_trace_backing of the buffer that the call was about
 * @pd: address of the struct ibv_pd that the call was given (of ibv_alloc_parent_domain, the domain
 *	that the new one is made from; of ibv_dereg_mr and ibv_unimport_mr, that of the MR)
 * @object: address of the struct ibv_mr, ibv_pd or ibv_mw that the call made or was given;
 *	0 if it made none
 * @buffer: the struct ibv_buf *, or 0
 * @address: first byte: of the range that was registered, or of the buffer; of ibv_dereg_mr and
 *	ibv_unimport_mr, @address, @length and the keys are what the MR had
 * @length: bytes
 * @iova: first address that the device uses
 * @offset: bytes into the DMA-buf, or into the device memory
 * @fd: the DMA-buf's descriptor in the process; -1 for none, or as it was given; of
 *	ibv_export_buf_dmabuf_fd, the new one
 * @access: IBV_ACCESS_* bits as they were given
 * @lkey: of the MR; of a memory window, 0
 * @rkey: of the MR or the memory window
 * @mask: comp_mask of ibv_reg_mr_ex and ibv_alloc_parent_domain, flags of ibv_rereg_mr, type of
 *	ibv_alloc_mw
 * @handle: the kernel's handle of the MR or the domain; as it was given, of ibv_import_*
 * @caller: the return address of the call; see struct ibvbuf_trace_module
 *
 * What does not belong to a call is 0, and @fd -1.
 */
struct ibvbuf_trace_record {
	uint64_t state;
	uint64_t time;
	uint64_t duration;
	uint32_t thread;
	uint16_t call;
	uint16_t stack_used;
	int32_t error;
	uint16_t device;
	uint16_t backing;
	uint64_t pd;
	uint64_t object;
	uint64_t buffer;
	uint64_t address;
	uint64_t length;
	uint64_t iova;
	uint64_t offset;
	int32_t fd;
	uint32_t access;
	uint32_t lkey;
	uint32_t rkey;
	uint32_t mask;
	uint32_t handle;
	uint64_t caller;
};

/**
 * struct ibvbuf_trace_device - a device that was used
 * @state: 1 when the rest is there (stored last); what has another is not there
 * @guid: of the node, as sysfs has it read as one number in network byte order; 0 if not known
 * @name: "mlx5_0"; ends with a NUL
 */
struct ibvbuf_trace_device {
	uint64_t state;
	uint64_t guid;
	char name[64];
	uint8_t reserved[48];
};

/**
 * struct ibvbuf_trace_module - a program or library that called
 * @state: 1 when the rest is there (stored last); what has another is not there
 * @since: 0, or, of a module that was loaded where another had been, when the call began that it
 *	was entered for: CLOCK_MONOTONIC, in nanoseconds. Such a module is an entry of its own, and
 *	so is one that came back: of those that hold an address, the last one entered before the
 *	call counts.
 * @start: first address of its image
 * @end: one past its last address
 * @bias: what was added to the addresses in the file: address - bias is what addr2line takes
 * @build_id_length: bytes of @build_id, 0 if it has none
 * @build_id: of its note NT_GNU_BUILD_ID; what is longer is cut
 * @path: ends with a NUL; of one that is too long, its end
 */
struct ibvbuf_trace_module {
	uint64_t state;
	uint64_t since;
	uint64_t start;
	uint64_t end;
	uint64_t bias;
	uint32_t build_id_length;
	uint8_t build_id[20];
	char path[192];
};

/**
 * struct ibvbuf_trace_header - what the file is
 * @magic: IBVBUF_TRACE_MAGIC, without a NUL
 * @byte_order: IBVBUF_TRACE_BYTE_ORDER as the writer stores it
 * @version_major: readers of another one cannot read the file
 * @version_minor: grows with what is added
 * @header_size: bytes of this struct
 * @device_size: bytes of an entry
 * @module_size: bytes of an entry
 * @record_size: bytes of a slot, its stack included: a multiple of 64
 * @device_capacity: entries
 * @module_capacity: entries
 * @stack_capacity: return addresses that a record has room for
 * @keep: enum ibvbuf_trace_keep
 * @devices_offset: bytes from the start of the file
 * @modules_offset: bytes from the start of the file
 * @records_offset: bytes from the start of the file
 * @record_capacity: slots at most, when all space is allocated
 * @start_monotonic: CLOCK_MONOTONIC when the first call to be recorded began, in nanoseconds; calls
 *	of other threads may have begun a little earlier
 * @start_realtime: CLOCK_REALTIME at the same moment, in nanoseconds since 1970
 * @process: process id
 * @parent: process id of the parent at that time
 * @user: effective user id
 * @rank: of the process in its job, or -1
 * @rank_variable: the variable of the environment that told the rank, or empty
 * @writer: version of ibvbuf-preload
 * @host: name of the host
 * @program: path of the program
 * @library: path of the libibverbs in use
 *
 * Counters, which change while the process runs; each has a cache line of its own:
 * @claimed: calls that took a number
 * @slots_allocated: slots of the file that have space
 * @dropped_no_space: records for which no space could be had: a full disk, a limit of file sizes, a
 *	file that was moved or deleted
 * @dropped_full: records that came when the file was full, with IBVBUF_TRACE_KEEP_OLDEST
 * @dropped_busy: records whose slot was still being written by a call that came record_capacity
 *	earlier
 * @unlisted: what found no room in a table: a device is counted once (of the first 1024 of the
 *	process), a module once for each address in it that had to be looked up
 */
struct ibvbuf_trace_header {
	char magic[8];
	uint32_t byte_order;
	uint16_t version_major;
	uint16_t version_minor;
	uint32_t header_size;
	uint32_t device_size;
	uint32_t module_size;
	uint32_t record_size;
	uint32_t device_capacity;
	uint32_t module_capacity;
	uint32_t stack_capacity;
	uint32_t keep;
	uint64_t devices_offset;
	uint64_t modules_offset;
	uint64_t records_offset;
	uint64_t record_capacity;
	uint64_t start_monotonic;
	uint64_t start_realtime;
	uint32_t process;
	uint32_t parent;
	uint32_t user;
	int32_t rank;
	char rank_variable[32];
	char writer[16];
	char host[64];
	char program[256];
	char library[256];
	uint8_t reserved[288];

	uint64_t claimed __attribute__((aligned(64)));
	uint64_t slots_allocated __attribute__((aligned(64)));
	uint64_t dropped_no_space __attribute__((aligned(64)));
	uint64_t dropped_full __attribute__((aligned(64)));
	uint64_t dropped_busy __attribute__((aligned(64)));
	uint64_t unlisted __attribute__((aligned(64)));
};

#endif
