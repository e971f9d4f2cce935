// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "devices.h"
#include "config.h"
#include "context_hooks.h"
#include "originals.h"
#include "straight.h"

#include <errno.h>

/* Programs ask for a device's capabilities before they make a domain. */
static struct ibv_context *opened(struct ibv_context *context)
{
	if (context)
		context_hook(context);
	return context;
}

struct ibv_context *device_open(struct ibv_device *device)
{
	original_ibv_open_device_function *open_device = original(ibv_open_device);

	DECIDE_STRAIGHT(ibv_open_device, device);
	config_get();
	if (open_device)
		return opened(open_device(device));
	errno = EOPNOTSUPP;
	return NULL;
}

struct ibv_context *device_import(int cmd_fd)
{
	original_ibv_import_device_function *import_device = original(ibv_import_device);

	DECIDE_STRAIGHT(ibv_import_device, cmd_fd);
	config_get();
	if (import_device)
		return opened(import_device(cmd_fd));
	errno = EOPNOTSUPP;
	return NULL;
}
