// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A stand-in for the libibverbs of rdma-core 64, to link programs with that need its IBVERBS_1.17.
 * Nothing in it is ever run.
 */
void ibv_get_device_list(void);
void ibv_alloc_buf(void);

void ibv_get_device_list(void)
{
}

void ibv_alloc_buf(void)
{
}
