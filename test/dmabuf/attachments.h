/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the kernel itself says of DMA-bufs: all of the machine, so nothing else may use any
 * meanwhile.
 */
#ifndef ATTACHMENTS_H
#define ATTACHMENTS_H

struct dmabufs {
	unsigned int buffers;
	unsigned int attachments; /* of the device that stands in for soft-RoCE's */
};

struct dmabufs dmabufs_of_kernel(void);

#define assert_dmabufs(wanted_buffers, wanted_attachments)                                         \
	do {                                                                                       \
		struct dmabufs now_ = dmabufs_of_kernel();                                         \
                                                                                                   \
		cr_assert_eq(now_.buffers, (unsigned int)(wanted_buffers), "%u buffers",           \
			     now_.buffers);                                                        \
		cr_assert_eq(now_.attachments, (unsigned int)(wanted_attachments),                 \
			     "%u attachments", now_.attachments);                                  \
	} while (0)

#endif
