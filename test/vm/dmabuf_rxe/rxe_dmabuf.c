// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Registration of DMA-bufs by soft-RoCE. For tests alone: see README.md.
 *
 * All but the last step is the kernel's own code, which the drivers of real devices call as well:
 * it checks the range, attaches to the DMA-buf, pins and maps it, and undoes that when rxe releases
 * the memory region. A soft-RoCE device does no DMA, so a platform device stands in for what a real
 * one attaches to DMA-bufs, and the addresses that it would be told are turned back into pages
 * here.
 */
#include <linux/dma-direct.h>
#include <linux/platform_device.h>
#include <rdma/ib_umem.h>
#include <rdma/iter.h>

#include "rxe.h"
#include "rxe_dmabuf.h"

static struct platform_device *importer;

int rxe_dmabuf_init(void)
{
	struct platform_device_info info = {
		.name = "rxe_dmabuf",
		.id = PLATFORM_DEVID_NONE,
		.dma_mask = DMA_BIT_MASK(64),
	};

	importer = platform_device_register_full(&info);
	if (IS_ERR(importer))
		return PTR_ERR(importer);
	/* An address behind an IOMMU says nothing of the page. */
	if (device_iommu_mapped(&importer->dev)) {
		platform_device_unregister(importer);
		return -EOPNOTSUPP;
	}
	return 0;
}

void rxe_dmabuf_exit(void)
{
	platform_device_unregister(importer);
}

/* The pages of the region, by number from its first, as rxe looks them up. */
static int fill_pages(struct rxe_mr *mr, struct ib_umem *umem)
{
	struct ib_block_iter block;
	unsigned long index = 0;
	int err = 0;

	rdma_umem_for_each_dma_block(umem, &block, PAGE_SIZE)
	{
		dma_addr_t address = rdma_block_iter_dma_address(&block);
		unsigned long pfn = PHYS_PFN(dma_to_phys(&importer->dev, address));

		/* Memory of a device has no page for the processor to copy to. */
		if (!pfn_valid(pfn))
			return -EOPNOTSUPP;
		err = xa_err(xa_store(&mr->page_list, index++, pfn_to_page(pfn), GFP_KERNEL));
		if (err)
			return err;
	}
	return index == ib_umem_num_pages(umem) ? 0 : -EINVAL;
}

static int init_mr(struct rxe_mr *mr, u64 offset, u64 length, u64 iova, int fd, int access)
{
	struct ib_umem_dmabuf *umem_dmabuf;

	rxe_mr_init(access, mr);
	xa_init(&mr->page_list);
	mr->ibmr.type = IB_MR_TYPE_USER;
	/* For this operation the caller leaves them to the driver. */
	mr->ibmr.iova = iova;
	mr->ibmr.length = length;

	umem_dmabuf = ib_umem_dmabuf_get_pinned_with_dma_device(mr->ibmr.device, &importer->dev,
								offset, length, fd, access);
	if (IS_ERR(umem_dmabuf))
		return PTR_ERR(umem_dmabuf);
	/* From here on rxe releases it with the region. */
	mr->umem = &umem_dmabuf->umem;
	mr->umem->iova = iova;

	return fill_pages(mr, mr->umem);
}

struct ib_mr *rxe_reg_user_mr_dmabuf(struct ib_pd *ibpd, u64 offset, u64 length, u64 iova, int fd,
				     int access, struct uverbs_attr_bundle *attrs)
{
	struct rxe_dev *rxe = to_rdev(ibpd->device);
	struct rxe_pd *pd = to_rpd(ibpd);
	struct rxe_mr *mr;
	int err;

	if (access & ~RXE_ACCESS_SUPPORTED_MR)
		return ERR_PTR(-EOPNOTSUPP);

	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	err = rxe_add_to_pool(&rxe->mr_pool, mr);
	if (err)
		goto err_free;
	rxe_get(pd);
	mr->ibmr.pd = ibpd;
	mr->ibmr.device = ibpd->device;

	err = init_mr(mr, offset, length, iova, fd, access);
	if (err)
		goto err_cleanup;
	mr->state = RXE_MR_STATE_VALID;
	rxe_finalize(mr);
	return &mr->ibmr;

err_cleanup:
	rxe_cleanup(mr);
err_free:
	kfree(mr);
	return ERR_PTR(err);
}
