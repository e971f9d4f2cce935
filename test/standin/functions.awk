# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# awk -f functions.awk symbols.table
#
# A line FUNCTION(identifier, "name@node") for each row; the second definitions at IBVERBS_1.0 are
# told apart by their identifier.

/^#/ || NF != 3 { next }
{ printf "FUNCTION(%s%s, \"%s@%s\")\n", $1, $2 == "IBVERBS_1.0" ? "_1_0" : "", $1, $2 }
