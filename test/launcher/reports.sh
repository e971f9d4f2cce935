# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=sh disable=SC2154 # variables of test/launcher/check
#
# The doctor's report.

# valid_json FILE...
valid_json() {
	if command -v python3 > /dev/null; then
		python3 -c 'import json, sys
for name in sys.argv[1:]:
    json.load(open(name, encoding="utf-8"))' "$@"
	else
		jq . "$@" > /dev/null
	fi
}

json_is_valid() {
	mkdir "$work/json-files"
	"$run" --check --json > "$work/json-files/machine"
	"$run" --print --json > "$work/json-files/print"
	for program in "$programs"/* /no-such-program; do
		"$run" --check --json "$program" > "$work/json-files/${program##*/}" || true
	done
	valid_json "$work"/json-files/*
	[ "$(cat "$work"/json-files/* | wc -l)" -gt 500 ]
}

# Paths may hold any byte.
json_escapes() {
	name=$(printf 'a"b\\c\td\ne\001f\377g\303\274\355\240\200')
	cp "$programs/no-verbs" "$work/$name"
	"$run" --check --json "$work/$name" > "$work/json"
	valid_json "$work/json"
	value=$(json_value .program.path < "$work/json")
	want=$(printf '%s/a"b\\c\td\ne\001f\357\277\275g\303\274\357\277\275\357\277\275\357\277\275' "$work")
	same 'the path' "$value" "$want"
}

fits_a_screen() {
	"$run" --check "$programs/new-rpath" > "$work/report" || true
	lines=$(wc -l < "$work/report")
	[ "$lines" -ge 10 ]
	[ "$lines" -le 40 ] || { echo "$lines lines"; return 1; }
	same 'width' "$(awk 'length > 100 && NF > 2' "$work/report")" ''
}

# A name cannot do anything to a terminal.
no_control_characters() {
	name=$(printf 'esc\033[31m')
	cp "$programs/no-verbs" "$work/$name"
	"$run" --check "$work/$name" > "$work/report"
	! grep -q "$(printf '\033')" "$work/report"
}

releases_are_told() {
	for case in 'bullseye:33.2:IBVERBS_PRIVATE_33' \
		'bookworm:36 to 56 (44.0 by its name):IBVERBS_PRIVATE_34' \
		'trixie:36 to 56 (56.1 by its name):IBVERBS_PRIVATE_34' \
		'testing:65.0:IBVERBS_PRIVATE_65'; do
		release=${case%%:*}
		package=$("$sources/../debian/get" "$release" libibverbs1 2> "$work/get.log") ||
			skip "packages cannot be had: $(tail -n 1 "$work/get.log")"
		mkdir "$work/$release"
		dpkg-deb -x "$package" "$work/$release"
		library=$(echo "$work/$release"/usr/lib/*/libibverbs.so.1)
		"$run" --check --json --real "$library" > "$work/json"
		same "$release" "$(json_value .library.release < "$work/json"):$(json_value \
			.library.private_node < "$work/json")" "${case#*:}"
		range=$(range_told)
		# by its nodes alone
		cp "$library" "$work/anonymous.so"
		"$run" --check --json --real "$work/anonymous.so" > "$work/json"
		same "$release" "$range" "$(range_told)"
		since=${range% *}
		until=${range#* }
		number=$(readlink "$library" | sed 's/.*\.so\.1\.[0-9]*\.\([0-9]*\)\..*/\1/')
		if [ "$since" -gt "$number" ] || { [ "$until" -lt "$number" ] && [ "$until" -ne 0 ]; }; then
			echo "$release: $since to $until"
			return 1
		fi
		nm -D --with-symbol-versions "$library" | sed -n 's/.* T \(.*\)@@\(.*\)/\1 \2/p' > "$work/symbols"
		jq_calls < "$work/json" > "$work/calls"
		[ -s "$work/calls" ]
		while read -r name node state; do
			if grep -qx "$name $node" "$work/symbols"; then native=true; else native=false; fi
			case $state in
			native | extended) same "$release $name $state" "$native" true ;;
			*) same "$release $name $state" "$native" false ;;
			esac
		done < "$work/calls"
	done
}

range_told() {
	echo "$(json_value .library.release_since < "$work/json") $(json_value \
		.library.release_until < "$work/json")"
}

# MLNX_OFED counts its libraries by itself: this name is one of about rdma-core 36.
numbers_of_vendors_are_told_apart() {
	package=$("$sources/../debian/get" bookworm libibverbs1 2> "$work/get.log") ||
		skip "packages cannot be had: $(tail -n 1 "$work/get.log")"
	dpkg-deb -x "$package" "$work/vendor"
	library=$work/libibverbs.so.1.14.54.0
	cp "$work"/vendor/usr/lib/*/libibverbs.so.1 "$library"
	"$run" --check --json --real "$library" > "$work/json"
	same 'range' "$(range_told)" '36 56'
	"$run" --check --real "$library" > "$work/report"
	reports 'rdma-core 36 to 56 .54\.0 by its name.;' "$work/report"
}

# A line a call: its name, its node and its state.
jq_calls() {
	if command -v jq > /dev/null; then
		jq -r '.library.calls[] | .name + " " + .node + " " + .state'
	else
		python3 -c 'import json, sys
for call in json.load(sys.stdin)["library"]["calls"]:
    print(call["name"], call["node"], call["state"])'
	fi
}

devices_are_asked() {
	"$run" --check --real "$programs/fake_devices.so" > "$work/report"
	reports 'with_dmabuf: registers DMA-buf memory: yes; needs bounce buffers: yes .CC_DMA_BOUNCE' "$work/report"
	reports 'without_dmabuf: registers DMA-buf memory: no; needs bounce buffers: unknown' "$work/report"
	reports 'closed: cannot be opened .Permission denied' "$work/report"
	"$run" --check --json --real "$programs/fake_devices.so" > "$work/json"
	valid_json "$work/json"
}

device_that_crashes() {
	FAKE_LAST=crash "$run" --check --real "$programs/fake_devices.so" > "$work/report"
	reports 'with_dmabuf: registers' "$work/report"
	reports 'asking the device last ended with signal 6' "$work/report"
}

# Where SIGCHLD is ignored, the kernel does not keep how a child ended.
device_that_crashes_unheard() {
	FAKE_LAST=crash env --ignore-signal=CHLD "$run" --check --real "$programs/fake_devices.so" \
		> "$work/report"
	reports 'asking the device last ended with signal 6' "$work/report"
}

# The numbers of the standard streams are then those of what is opened next.
devices_are_asked_without_streams() {
	for closed in '<&-' '2>&-' '<&- 2>&-'; do
		eval '"$run" --check --real "$programs/fake_devices.so" > "$work/report"' "$closed"
		reports 'with_dmabuf: registers DMA-buf memory: yes' "$work/report"
	done
}

# gives_up DEVICE PROCESS
gives_up() {
	same 'status' "$(cat "$work/$2.status")" 0
	reports 'asking the device last took more than 10 seconds' "$work/$1.report"
	reports 'it took 1[0-4] seconds' "$work/$1.report"
}

limits_are_told() {
	need_root
	prlimit --memlock=65536:65536 setpriv --reuid "$other_user" --regid "$other_user" --clear-groups \
		--bounding-set -all env -i HOME=/ "$run" --check > "$work/report"
	rm -rf "/tmp/ibvbuf-$other_user"
	reports 'registered at most: 64 KiB' "$work/report"
	reports 'ulimit -l unlimited' "$work/report"
}

device_files_are_told() {
	need_root
	unshare -m true 2> /dev/null || skip 'no mount namespace can be made'
	[ -d /dev/dma_heap ] && skip 'this machine has DMA-buf heaps'
	cp "$programs/no-verbs" "$work/any"
	# shellcheck disable=SC2016 # the inner shell expands it
	unshare -m sh -c 'mount -t tmpfs -o mode=755 none /dev && mkdir /dev/dma_heap /dev/infiniband &&
		mknod /dev/null c 1 3 && chmod 666 /dev/null &&
		: > /dev/udmabuf && : > /dev/dma_heap/system && : > /dev/infiniband/uverbs0 &&
		chmod 600 /dev/udmabuf /dev/infiniband/uverbs0 && chmod 666 /dev/dma_heap/system &&
		exec setpriv --reuid '"$other_user --regid $other_user"' --clear-groups env -i HOME=/ "$1" --check' \
		sh "$run" > "$work/report"
	rm -rf "/tmp/ibvbuf-$other_user"
	reports 'heaps: /dev/dma_heap/system; udmabuf: /dev/udmabuf .not for you' "$work/report"
	reports 'You may not open /dev/udmabuf' "$work/report"
	reports 'You may not open /dev/infiniband/uverbs0' "$work/report"
}

problems_of_the_shim_are_told() {
	mkdir "$work/no-files"
	same 'status' "$(IBVBUF_LIBDIR=$work/no-files status_of "$run" --check)" 1
	reports 'PROBLEM.*no-files' "$work/status.output"
	same 'status' "$(IBVBUF_LIBDIR=$work/no-files status_of "$run" --check "$programs/no-verbs")" 1
}

hostile_files_are_read() {
	cat "$work/hostile.report"
	same 'status' "$(cat "$work/$hostile_reads.status")" 0
	same 'rounds' "$(grep -c ' mutations$' "$work/hostile.report")" 2
}

expect '--json is JSON' json_is_valid
expect '--json escapes what must be' json_escapes
expect 'the report fits a screen' fits_a_screen
expect 'the report holds no control characters' no_control_characters
expect 'releases and calls of real libraries are told' releases_are_told
expect 'a number that may be a vendor'\''s is told as what it is' numbers_of_vendors_are_told_apart
expect 'devices are asked what they can do' devices_are_asked
expect 'a device that crashes does not take the doctor with it' device_that_crashes
expect 'also where nobody hears of it' device_that_crashes_unheard
expect 'devices are asked without standard streams, too' devices_are_asked_without_streams
expect 'a device that hangs is given up' gives_up hang "$hang"
expect 'also one that holds the process in the kernel' gives_up stuck "$stuck"
expect 'the limit of registered memory is told' limits_are_told
expect 'device files and who may open them are told' device_files_are_told
expect 'missing files of the shim are told' problems_of_the_shim_are_told
expect 'files that lie are read without harm' hostile_files_are_read
