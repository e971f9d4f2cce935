# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Copy what several test programs print, but for their sums, Criterion's and "N passed, N failed":
# these are added, and told once, at the end. Ends with an error if a test failed, or if none was
# run.
{ line = $0; gsub(/\033\[[0-9;]*m/, "", line) }

line ~ /Synthesis: Tested:/ {
	fields = split(line, field, " ")
	for (i = 1; i < fields; i++) {
		if (field[i] == "Passing:") passed += field[i + 1]
		if (field[i] == "Failing:" || field[i] == "Crashing:") failed += field[i + 1]
	}
	next
}

/^[0-9]+ passed, [0-9]+ failed$/ { passed += $1; failed += $3; next }

{ print; fflush() }

END {
	print passed + 0 " passed, " failed + 0 " failed"
	exit failed > 0 || passed == 0
}
