# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# awk -f compare.awk -v what=live|recorded|known|called ...
#
# Make lines that can be compared, of what the trace, the kernel and the debugger tell.
#
#   live      of a table of records: regions that are registered at its end, "process lkey rkey bytes"
#   known     of the kernel's list of regions: the same
#   recorded  of a table of records: "call arguments", in its order
#   called    of what the debugger saw that the program or another library called in the shim: the same
function number(hex, value, i) {
	sub(/^0x/, "", hex)
	value = 0
	for (i = 1; i <= length(hex); i++)
		value = value * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
	return value
}

function call_line(call, domain, object, address, bytes, access) {
	if (call ~ /^ibv_reg_mr/)
		return call " " domain " " address " " bytes " " access
	if (call == "ibv_alloc_pd")
		return call
	return call " " object
}

BEGIN { FS = what == "live" || what == "recorded" ? "," : " " }

(what == "live" || what == "recorded") && FNR == 1 {
	for (i = 1; i <= NF; i++)
		column[$i] = i
	next
}

function field(name) {
	return $column[name]
}

what == "live" && field("call") ~ /^ibv_reg_mr/ && field("error") == 0 {
	region[field("pid"), field("object")] = field("pid") " " field("lkey") " " field("rkey") " " field("length")
}

what == "live" && field("call") == "ibv_dereg_mr" && field("error") == 0 {
	delete region[field("pid"), field("object")]
}

what == "recorded" {
	print call_line(field("call"), field("pd"), field("object"), field("address"), field("length"), field("access"))
}

what == "known" {
	for (i = 1; i < NF; i++)
		value[$i] = $(i + 1)
	print value["pid"], number(value["lkey"]), number(value["rkey"]), value["mrlen"]
}

# Who called is on the line after: this shim, where libibverbs jumped to another call of its own.
what == "called" && call != "" {
	if (!/libibverbs\.so|libibvbuf-preload\.so/)
		print call
	call = ""
}

# The line of a call may follow output of the program's that has no end of line.
what == "called" && match($0, /call ibv_/) && /libibvbuf-preload\.so/ {
	$0 = substr($0, RSTART)
	call = call_line($2, "0x" $3, "0x" $3, "0x" $4, number($5), number($2 ~ /iova/ ? $7 : $6))
}

END {
	for (one in region)
		print region[one]
}
