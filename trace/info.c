// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "command.h"

static void run(struct trace_input *input)
{
	(void)input;
}

const struct trace_command command_info = {
	.name = "info",
	.purpose = "what a file is: its process, devices, modules, and what is missing",
	.run = run,
};
