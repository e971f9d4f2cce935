// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "command.h"

static void run(struct trace_input *input)
{
	(void)input;
}

const struct trace_command command_summary = {
	.name = "summary",
	.purpose = "what was registered, what failed and why, what was never deregistered",
	.run = run,
};
