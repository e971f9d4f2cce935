# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=sh disable=SC2154 # variables of test/launcher/check
#
# What the doctor says of a program, and what really comes of it.

json_value() {
	"$json_reader" "$1"
}

if command -v jq > /dev/null; then
	json_reader=json_with_jq
else
	json_reader=json_with_python
fi

json_with_jq() {
	jq -r "$1"
}

json_with_python() {
	python3 -c '
import json, sys
value = json.load(sys.stdin)
for key in sys.argv[1].split(".")[1:]:
    value = value[key]
print({True: "true", False: "false", None: "null"}.get(value, value) if not isinstance(value, str) else value)
' "$1"
}

# really WAY COMMAND...: "true true" if it runs and is served
really() {
	if answer=$("$@" 2> "$work/really.errors"); then
		[ "$answer" = served ] && echo 'true true' || echo 'true false'
	else
		echo 'false false'
	fi
}

# holds [as_other_user env ...] PROGRAM: all four ways, and the exit status of each
holds() {
	program=$1
	shift
	for way in default preload plain alone; do
		case $way in
		default) options= ;;
		alone) options=none ;;
		*) options=--$way ;;
		esac
		# shellcheck disable=SC2086 # none or one
		if [ "$options" = none ]; then
			truth=$(really "$@" "$program")
			verdict=$("$@" "$run" --check --json "$program") || true
		else
			truth=$(really "$@" "$run" $options "$program")
			status=0
			verdict=$("$@" "$run" $options --check --json "$program") || status=$?
			same "$way: exit status" "$status" "$([ "${truth% *}" = true ] && echo 0 || echo 1)"
		fi
		same "$way" "$(printf '%s' "$verdict" | json_value ".program.ways.$way.complete") \
$(printf '%s' "$verdict" | json_value ".program.ways.$way.served")" "$truth"
	done
	advice=$(printf '%s' "$verdict" | json_value .program.advice)
}

verdict_holds() {
	[ -e "$programs/$1" ] || skip 'this compiler makes no such program'
	holds "$programs/$1"
	same 'advice' "$advice" "$2"
}

# Not every kernel of a 64-bit machine executes them.
verdict_of_32_bit_holds() {
	if [ -e "$programs/32-bit" ] && ! "$programs/32-bit" 2> /dev/null; then
		verdict_holds 32-bit null
	else
		verdict_holds 32-bit default
	fi
}

verdict_of_env_script_holds() {
	PATH=$programs:$PATH
	holds "$programs/env-script"
}

# What env is told before the program's name is not that.
verdict_of_env_options_holds() {
	PATH=$programs:$PATH
	for options in '-u HOME' '-C /' '--unset HOME' '--chdir /' '-iu HOME PATH=/bin' '-uHOME' '-i'; do
		printf '#!/usr/bin/env -S %s no-verbs\n' "$options" > "$work/env-options"
		chmod +x "$work/env-options"
		"$run" --check "$work/env-options" > "$work/report" || { cat "$work/report"; return 1; }
		reports "a script for $programs/no-verbs" "$work/report"
	done
}

# No folder at all is the current one.
verdict_of_empty_path_holds() {
	cd "$programs" || return
	same 'really' "$(PATH='' "$run" no-verbs)" unserved
	PATH='' "$run" --check no-verbs > "$work/report" || { cat "$work/report"; return 1; }
}

# What stands for the other C library's dynamic linker is never run: it has only its name.
of_another_c_library_is_said() {
	mkdir "$work/musl"
	echo 'void _start(void); void _start(void) {}' > "$work/musl/linker.c"
	compile -shared -fPIC -nostdlib -Wl,-soname,libc.musl.so.1 -o "$work/musl/ld-musl.so.1" \
		"$work/musl/linker.c"
	compile -Wl,--dynamic-linker="$work/musl/ld-musl.so.1" -o "$work/musl/no-verbs" \
		"$sources/programs/no_verbs.c"
	compile -Wl,--dynamic-linker="$work/musl/ld-musl.so.1" -o "$work/musl/linked" \
		"$sources/programs/verbs_user.c" "$real_library" -ldl
	for case in no-verbs:alone:true no-verbs:default:true no-verbs:plain:false \
		no-verbs:preload:false linked:alone:true linked:default:false linked:plain:false \
		linked:preload:false; do
		rest=${case#*:}
		"$run" --check --json "$work/musl/${case%%:*}" > "$work/json" || true
		same "$case" "$(json_value ".program.ways.${rest%:*}.starts" < "$work/json")" "${rest#*:}"
	done
	"$run" --plain --check "$work/musl/linked" > "$work/report" && return 1
	reports 'cannot be served: it is built for another C library' "$work/report"
	reports "Start it with: $work/musl/linked" "$work/report"
	# by whatever name it goes, glibc's is glibc's
	ln -s "$(readelf -l "$programs/no-verbs" | sed -n 's/.*interpreter: \(.*\)\]/\1/p')" "$work/musl/linker"
	compile -DREFERS -Wl,--dynamic-linker="$work/musl/linker" -o "$programs/renamed-linker" \
		"$sources/programs/verbs_user.c" "$programs/new/libibverbs.so" -ldl
	holds "$programs/renamed-linker"
	rm "$programs/renamed-linker"
}

verdict_of_set_user_id_holds() {
	need_root
	rm -rf "/tmp/ibvbuf-$other_user"
	holds "$programs/old-set-user-id" as_other_user env -i PATH="$PATH" HOME=/
	holds "$programs/new-set-user-id" as_other_user env -i PATH="$PATH" HOME=/
	rm -rf "/tmp/ibvbuf-$other_user"
	as_other_user env -i HOME=/ "$run" --check "$programs/old-set-user-id" > "$work/report" || true
	reports 'is set-user-ID: the dynamic linker obeys no environment' "$work/report"
	# for root itself it is a program like any other
	holds "$programs/new-set-user-id"
	rm -rf "/tmp/ibvbuf-$other_user"
}

verdict_of_capabilities_holds() {
	need_root
	cp "$programs/new-linked" "$programs/capable"
	setcap cap_net_raw+ep "$programs/capable" 2> /dev/null || skip 'no file capabilities here'
	holds "$programs/capable" as_other_user env -i PATH="$PATH" HOME=/
	rm -rf "/tmp/ibvbuf-$other_user"
}

verdict_of_bind_now_variable_holds() {
	LD_BIND_NOW=1; export LD_BIND_NOW
	holds "$programs/stub-linked"
}

verdict_of_missing_library_holds() {
	mkdir "$work/lost"
	# one that is gone when the program starts
	echo 'void lost(void); void lost(void) {}' > "$work/lost/lost.c"
	echo 'void lost(void); int main(void) { lost(); return 0; }' > "$work/lost/main.c"
	compile -shared -fPIC -o "$work/lost/liblost.so" "$work/lost/lost.c"
	compile -o "$programs/lost" "$work/lost/main.c" "$work/lost/liblost.so" -Wl,-rpath,"$work/lost"
	holds "$programs/lost"
	rm "$work/lost/liblost.so"
	holds "$programs/lost"
}

# Through a library of its own, that is found by the program's RUNPATH or not at all.
verdict_of_indirect_use_holds() {
	mkdir "$work/indirect"
	echo 'void *ibv_alloc_buf(void *, unsigned long, void **); void *mine(void);
void *mine(void) { return ibv_alloc_buf(0, 1, 0); }' > "$work/indirect/mine.c"
	echo 'int puts(const char *); void *mine(void);
int main(void) { mine(); puts("served"); return 0; }' > "$work/indirect/main.c"
	compile -shared -fPIC -Wl,-soname,libmine.so -o "$work/indirect/libmine.so" \
		"$work/indirect/mine.c" "$programs/new/libibverbs.so"
	compile -o "$programs/indirect" "$work/indirect/main.c" "$work/indirect/libmine.so" \
		-Wl,--allow-shlib-undefined,-rpath,"$work/indirect"
	holds "$programs/indirect"
	"$run" --check "$programs/indirect" > "$work/report"
	reports "comes to libibverbs through $work/indirect/libmine.so" "$work/report"
}

not_executable_is_said() {
	for program in no-such-program /etc/passwd "$programs/other-machine" "$programs/no-program" \
		"$programs/cut-short" \
		"$build/launcher/main.o" ''; do
		same "'$program'" "$(status_of "$run" --check "$program")" 1
		reports PROBLEM "$work/status.output"
	done
	# these need no library to be refused for
	! "$programs/other-machine" 2> /dev/null
}

# A daemon's thread may have all signals blocked, and what it starts inherits that.
nothing_runs_with_signals_blocked() {
	for signals in TRAP TRAP,CHLD; do
		printf ': > "%s"\n' "$work/has-run" |
			env --block-signal="$signals" "$run" --check sh > "$work/report"
		[ ! -e "$work/has-run" ] || { echo "it ran, with $signals blocked"; return 1; }
	done
}

# refused WHAT PROGRAM WORDS...: it is, and all of these are said
refused() {
	what=$1
	same "$what" "$(status_of "$run" --check "$2")" 1
	shift 2
	for words; do
		reports "$words" "$work/status.output"
	done
}

remedies_fit() {
	ln -sf circle "$work/circle"
	mkfifo "$work/fifo"
	chmod +x "$work/fifo"
	printf 'true\n' > "$work/not-executable"
	refused 'a folder' "$work" 'It is a folder'
	refused 'a FIFO' "$work/fifo" 'no regular file'
	refused 'a circle' "$work/circle" 'lead in a circle'
	refused 'a file' "$work/not-executable" 'chmod \+x'
	refused 'a part' "$programs/cut-short" 'is cut short'
	same 'a part, really' "$(status_of "$run" "$programs/cut-short" | grep -cE '^0$')" 0
}

# On a library that has all the calls, at their nodes.
nothing_needed_is_said() {
	mkdir "$work/native"
	{ cat "$build/exported"; echo 'ibv_get_device_list IBVERBS_1.1 1'; } > "$work/native/calls"
	awk '{ print "void " $1 "(void); void " $1 "(void) {}" }' "$work/native/calls" > "$work/native/calls.c"
	awk '{ names[$2] = names[$2] " " $1 ";" }
		END { for (node in names) print node " { global:" names[node] " };" }' \
		"$work/native/calls" > "$work/native/map"
	compile -shared -fPIC -Wl,-soname,libibverbs.so.1,--version-script,"$work/native/map" \
		-o "$work/native/libibverbs.so.1" "$work/native/calls.c"
	LD_LIBRARY_PATH=$work/native "$run" --check "$programs/new-linked" > "$work/report" || true
	reports "needs nothing: would run as: $programs/new-linked; also as: ibvbuf-run" "$work/report"
	"$run" --check "$programs/new-linked" > "$work/report"
	reports "answer would run as: ibvbuf-run $programs/new-linked" "$work/report"
}

reasons_are_the_loaders_words() {
	"$run" --check "$programs/new-linked" > "$work/report"
	"$programs/new-linked" 2> "$work/loader" && skip 'this libibverbs has IBVERBS_1.17'
	words=$(sed -n "s/.*\(version \`[^']*' not found\).*/\1/p" "$work/loader" | head -n 1)
	[ -n "$words" ]
	reports "$words" "$work/report"
	reports "needs IBVERBS_1.17, which this one lacks" "$work/report"
}

expect 'verdict = truth: linked with an old libibverbs' verdict_holds old-linked default
expect 'verdict = truth: linked with a new libibverbs' verdict_holds new-linked default
expect 'verdict = truth: the same, -z now' verdict_holds binds-now default
expect 'verdict = truth: linked with the stub' verdict_holds stub-linked default
expect 'verdict = truth: LD_BIND_NOW' verdict_of_bind_now_variable_holds
expect 'verdict = truth: old, with RPATH' verdict_holds old-rpath preload
expect 'verdict = truth: new, with RPATH' verdict_holds new-rpath preload
expect 'verdict = truth: new, with RUNPATH' verdict_holds new-runpath default
expect 'verdict = truth: opens libibverbs at run time' verdict_holds opens default
expect 'verdict = truth: static' verdict_holds static default
expect 'verdict = truth: 32-bit' verdict_of_32_bit_holds
expect 'verdict = truth: set-user-ID' verdict_of_set_user_id_holds
expect 'verdict = truth: file capabilities' verdict_of_capabilities_holds
expect 'verdict = truth: no verbs' verdict_holds no-verbs default
expect 'verdict = truth: a script' verdict_holds script default
expect 'verdict = truth: a script through env' verdict_of_env_script_holds
expect 'verdict = truth: a script through env with options' verdict_of_env_options_holds
expect 'verdict = truth: an empty PATH' verdict_of_empty_path_holds
expect 'verdict = truth: a library that is missing' verdict_of_missing_library_holds
expect 'verdict = truth: through a library of its own' verdict_of_indirect_use_holds
expect 'verdict = truth: a text without #!' verdict_holds no-interpreter default
expect 'a program of another C library: that is said' of_another_c_library_is_said
expect 'nothing runs, with signals blocked either' nothing_runs_with_signals_blocked
expect 'what cannot be executed is said' not_executable_is_said
expect 'its remedy fits' remedies_fit
expect 'a program that needs nothing: that is said' nothing_needed_is_said
expect 'reasons are in the words of the loader' reasons_are_the_loaders_words
