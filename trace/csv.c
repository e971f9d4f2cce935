// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "command.h"

static void run(struct trace_input *input)
{
	(void)input;
}

const struct trace_command command_csv = {
	.name = "csv",
	.purpose = "a table, for scripts",
	.run = run,
};
