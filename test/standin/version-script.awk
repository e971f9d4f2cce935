# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# awk -v generation=N -f version-script.awk symbols.table
#
# The version script of the stand-in for rdma-core N: the nodes in ascending order, each with what
# that release has there, and the interface of standin.h at a node of its own.

/^#/ || NF != 3 { next }
$3 > generation { next }
{
	split($2, part, "[_.]")
	node = part[2] * 1000 + part[3]
	if (!(node in names))
		order[count++] = node
	label[node] = $2
	names[node] = names[node] "\t\t" $1 ";\n"
}

END {
	for (i = 1; i < count; i++)
		for (j = i; j > 0 && order[j - 1] > order[j]; j--) {
			swap = order[j]
			order[j] = order[j - 1]
			order[j - 1] = swap
		}
	print "STANDIN {\n\tglobal:\n\t\tstandin_*;\n\tlocal:\n\t\t*;\n};"
	for (i = 0; i < count; i++) {
		node = order[i]
		printf "%s {\n\tglobal:\n%s}%s;\n", label[node], names[node], previous
		previous = " " label[node]
	}
}
