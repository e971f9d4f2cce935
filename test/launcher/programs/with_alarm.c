// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* with-alarm COMMAND...: which gets SIGALRM after a second; a timer stays when a program is
 * executed. */
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	alarm(1);
	execvp(argv[1], argv + 1);
	return 127;
}
