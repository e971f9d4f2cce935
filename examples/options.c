// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "options.h"

#define LARGEST_MESSAGE (64U << 20)

static void print_usage(FILE *stream)
{
	fprintf(stream,
		"usage: buf_pingpong [OPTION...] --local    both sides, on this machine\n"
		"       buf_pingpong [OPTION...]            the server\n"
		"       buf_pingpong [OPTION...] SERVER     the client of that server\n"
		"  -d, --ib-dev=DEVICE    RDMA device (the first with an active port)\n"
		"  -i, --ib-port=PORT     port of the device (1)\n"
		"  -g, --gid-idx=INDEX    index of the local GID (a RoCE v2 one is chosen)\n"
		"  -s, --size=BYTES       bytes of a message (4096)\n"
		"  -n, --iters=COUNT      iterations (1000)\n"
		"  -p, --port=TCP_PORT    where the server listens (18515)\n"
		"  -e, --export           hand the server's and the client's buffer to other "
		"processes,\n"
		"                         which look at what RDMA wrote there (needs DMA-bufs)\n"
		"  -h, --help\n");
}

static unsigned int number(const char *option, const char *text, unsigned int least,
			   unsigned int most)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 0);
	if (errno || end == text || *end || *text == '-' || value < least || value > most)
		errx(EXIT_FAILURE, "%s takes a number from %u to %u, not '%s'", option, least, most,
		     text);
	return (unsigned int)value;
}

void options_parse(struct options *options, int argc, char **argv)
{
	static const struct option long_options[] = {
		{"ib-dev", required_argument, NULL, 'd'},
		{"ib-port", required_argument, NULL, 'i'},
		{"gid-idx", required_argument, NULL, 'g'},
		{"size", required_argument, NULL, 's'},
		{"iters", required_argument, NULL, 'n'},
		{"port", required_argument, NULL, 'p'},
		{"local", no_argument, NULL, 'l'},
		{"export", no_argument, NULL, 'e'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int option;

	*options = (struct options){
		.connection = {.port = 1, .gid_index = -1},
		.tcp_port = "18515",
		.size = 4096,
		.iterations = 1000,
	};
	while ((option = getopt_long(argc, argv, "d:i:g:s:n:p:leh", long_options, NULL)) != -1) {
		switch (option) {
		case 'd':
			options->connection.device = optarg;
			break;
		case 'i':
			options->connection.port = (uint8_t)number("-i", optarg, 1, 255);
			break;
		case 'g':
			options->connection.gid_index = (int)number("-g", optarg, 0, 255);
			break;
		case 's':
			options->size = number("-s", optarg, 1, LARGEST_MESSAGE);
			break;
		case 'n':
			options->iterations = number("-n", optarg, 1, 1000000000);
			break;
		case 'p':
			options->tcp_port = optarg;
			break;
		case 'l':
			options->local = true;
			break;
		case 'e':
			options->export = true;
			break;
		case 'h':
			print_usage(stdout);
			exit(EXIT_SUCCESS);
		default:
			print_usage(stderr);
			exit(EXIT_FAILURE);
		}
	}
	options->server = argv[optind];
	if (argc - optind > 1 || (options->local && options->server)) {
		print_usage(stderr);
		exit(EXIT_FAILURE);
	}
}
