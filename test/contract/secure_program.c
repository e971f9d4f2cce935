// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What secure.c starts with and without the set-user-ID bit: it frees a buffer twice. */
#include <infiniband/verbs.h>
#include <stdio.h>
#include <sys/auxv.h>

int main(void)
{
	static struct ibv_context context;
	struct ibv_pd *pd = ibv_alloc_pd(&context);
	struct ibv_buf *buf;

	printf("AT_SECURE %lu\n", getauxval(AT_SECURE));
	fflush(stdout);
	if (!pd || !ibv_alloc_buf(pd, 1, &buf))
		return 1;
	ibv_free_buf(buf);
	ibv_free_buf(buf);
	return 0;
}
