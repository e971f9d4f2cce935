# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=sh disable=SC2154,SC2016 # variables of test/launcher/check; inner shells
#
# Starting programs.

# The library that the dynamic linker itself takes for old-linked, under these variables.
loader_choice() {
	LD_TRACE_LOADED_OBJECTS=1 "$programs/old-linked" |
		awk '$1 == "libibverbs.so.1" {
			sub(/^[[:space:]]*/, "")
			sub(/ \(0x[0-9a-f]*\)$/, "")
			sub(/^.* => /, "")
			print
		}'
}

# The library behind the drop-in, under these variables.
real_choice() {
	readlink "$(printed LD_LIBRARY_PATH "$run" --print "$@" | cut -d: -f1)/libibverbs-real.so.1"
}

# An unreadable name here would let every comparison pass.
same_choice() {
	choice=$(loader_choice)
	[ -n "$choice" ] || { echo 'the loader made no choice'; return 1; }
	same 'the library' "$(realpath "$(real_choice)")" "$(realpath "$choice")"
}

process_is_the_programs() {
	"$run" sleep 30 &
	pid=$!
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		name=$(cat "/proc/$pid/comm")
		[ "$name" = sleep ] && break
		sleep 0.1
	done
	same 'the process' "$name" sleep
	kill -TERM "$pid"
	status=0
	wait "$pid" || status=$?
	same 'its end' "$status" 143
}

exit_codes_pass() {
	for code in 0 1 7 125 255; do
		same "exit $code" "$(status_of "$run" sh -c "exit $code")" "$code"
	done
	same 'a signal' "$(status_of "$run" sh -c 'kill -KILL $$')" 137
}

failures_are_those_of_env() {
	for program in no-such-program "$work/no-such-program" "$programs" "$programs/fake_devices.so/x" \
		/etc/passwd ''; do
		same "'$program'" "$(status_of "$run" "$program")" "$(status_of env "$program")"
	done
	same 'not found' "$(status_of "$run" no-such-program)" 127
	same 'not executable' "$(status_of "$run" /etc/passwd)" 126
}

arguments_pass() {
	same 'arguments' "$("$run" -- printf '<%s>' --help -- '' 'a b' '*')" '<--help><--><><a b><*>'
	same 'arguments' "$("$run" printf '<%s>' --plain)" '<--plain>'
}

input_passes() {
	same 'standard input' "$(printf 'x\ny' | "$run" cat)" "$(printf 'x\ny')"
}

text_without_interpreter_is_for_sh() {
	printf 'echo shell $#\n' > "$work/plain-text"
	chmod +x "$work/plain-text"
	same 'a text' "$("$run" "$work/plain-text" a b)" 'shell 2'
}

usage_errors_are_125() {
	for arguments in '' '--nosuch true' '--set' '--set x true' '--set nosuch=1 true' \
		'--set diagnostics=loud true' '--set backing=hugetlb:3M true' '--set backing=hugetlb:1 true' '--plain --preload true' '--check --print' '--json true' \
		'--real /nonexistent true' '--plain --real / true' "--real $drop_in true" \
		'--real /etc/passwd true' '--trace= true' '--trace=%z true' '--summary --check' \
		'--summary --print true'; do
		# shellcheck disable=SC2086 # words
		same "'$arguments'" "$(status_of "$run" $arguments)" 125
		grep -q '^ibvbuf-run: ' "$work/status.output" || { cat "$work/status.output"; return 1; }
	done
}

# The word that is wrong, and not another.
wrong_options_are_named() {
	for case in '-np:-np 4 true' '-np:--plain -np 4 true' '--plian:--plain --plian true' \
		'--plain=x:--plain=x true'; do
		# shellcheck disable=SC2086 # words
		same "'$case'" "$(status_of "$run" ${case#*:})" 125
		same "'$case'" "$(cat "$work/status.output")" \
			"ibvbuf-run: no option '${case%%:*}'; see ibvbuf-run --help"
	done
	same 'no value' "$(status_of "$run" --plain --set)" 125
	reports "'--set' needs a value" "$work/status.output"
}

help_and_version() {
	"$run" --help | grep -q -- '--preload'
	"$run" --help | grep -q 'transparent_huge_pages.*yes, no (default: yes)'
	"$run" --version | grep -Eq '^ibvbuf-run [0-9.]+$'
	if [ -w /dev/full ]; then
		same 'a full disk' "$(status_of sh -c '"$1" --help > /dev/full' sh "$run")" 125
	fi
}

nothing_is_loaded_without_verbs() {
	"$run" cat /proc/self/maps > "$work/maps"
	grep -q libc "$work/maps"
	! grep -E 'ibv|verbs' "$work/maps"
}

# system_calls VARIABLE=VALUE... PROGRAM: those of the program, without what differs from run to run
system_calls() {
	strace -o "$work/calls" env -i "$@" > /dev/null
	# env itself is traced as well: up to the second execve
	awk '/^execve\(/ { n++; next } n == 2' "$work/calls" |
		sed -E 's/0x[0-9a-f]+/ADDRESS/g; s/^(getrandom\().*/\1/;
			s/^(set_tid_address|rseq|set_robust_list)\(.*/\1/; s/= [0-9]+$/= N/'
}

# The dynamic linker looks for the first library in the folder, and in each subfolder of it for better
# processors, in vain; it asks whether these are there, and not for them again.
unserved_processes_only_look() {
	strace -o "$work/calls" true 2> /dev/null || skip 'nothing can be traced here'
	folder=$(printed LD_LIBRARY_PATH "$run" --print)
	system_calls /bin/true > "$work/without"
	system_calls LD_LIBRARY_PATH="$folder" /bin/true > "$work/with"
	grep -F "\"$folder" "$work/with" > "$work/looks"
	grep -vF "\"$folder" "$work/with" | diff "$work/without" -
	same 'what is found' "$(grep -v ENOENT "$work/looks" | cut -d , -f 2)" " \"$folder\""
	most=40
	case $(getconf GNU_LIBC_VERSION) in
	# no subfolders but those in glibc-hwcaps
	'glibc 2.3'[7-9] | 'glibc 2.'[4-9][0-9]) most=8 ;;
	esac
	count=$(wc -l < "$work/looks")
	[ "$count" -le $most ] || { echo "$count calls, of $most"; cat "$work/looks"; return 1; }

	# Each further library costs one call.
	system_calls LD_LIBRARY_PATH="$folder" /bin/ls > "$work/with"
	libraries=$(ldd /bin/ls | grep -c '=> /')
	[ "$libraries" -gt 1 ] || { echo 'no further library'; return 1; }
	same 'calls' "$(grep -cF "\"$folder" "$work/with")" $((count + libraries - 1))
}

path_is_first_and_users_stay() {
	folder=$(printed LD_LIBRARY_PATH "$run" --print)
	[ "${folder#/}" != "$folder" ]
	for value in /a /a:/b : :/a /a: /a::b 'rel ative' "/new
line" '/a;/b'; do
		want=$folder:$(printf '%s' "$value" | tr ';' ':')
		same "'$value'" "$(LD_LIBRARY_PATH=$value printed LD_LIBRARY_PATH "$run" --print)" "$want"
	done
	same 'empty' "$(LD_LIBRARY_PATH='' printed LD_LIBRARY_PATH "$run" --print)" "$folder"
}

preloads_of_the_users_stay() {
	folder=$(printed LD_LIBRARY_PATH "$run" --print)
	same 'default' "$(LD_PRELOAD=/a:b printed LD_PRELOAD "$run" --print)" /a:b
	same 'preload' "$(LD_PRELOAD=/a:b printed LD_PRELOAD "$run" --preload --print)" \
		"$folder/libibverbs.so.1:/a:b"
	same 'plain' "$(LD_PRELOAD='/a b' printed LD_PRELOAD "$run" --plain --print)" "$plain:/a:b"
	same 'plain' "$("$run" --plain --print)" "export LD_PRELOAD='$plain'"
}

starts_within_starts() {
	for options in '' --preload --plain; do
		# shellcheck disable=SC2086 # none or one
		same "$options" "$("$run" $options "$run" $options "$run" $options --print)" \
			"$("$run" $options --print)"
	done
	same 'served' "$("$run" "$run" "$programs/new-linked")" served
	same 'served' "$("$run" --preload "$run" --preload "$programs/new-rpath")" served
	# what the outer one was told stays
	same 'real' "$("$run" --real "$programs/fake_devices.so" "$run" --print)" \
		"$("$run" --real "$programs/fake_devices.so" --print)"
}

# The outer start's drop-in is preloaded in the inner one, and has its own real library.
inner_real_counts() {
	mkdir "$work/outer" "$work/inner"
	cp "$real_library" "$work/outer/libibverbs.so.1"
	cp "$real_library" "$work/inner/libibverbs.so.1"
	for options in '' --preload; do
		# shellcheck disable=SC2086 # none or one
		"$run" --preload --real "$work/outer" "$run" $options --real "$work/inner" \
			sh -c 'LD_TRACE_LOADED_OBJECTS=1 "$0"' "$programs/new-linked" > "$work/objects"
		drop_in_loaded=$(awk '$NF ~ /^\(/ && /libibverbs\.so\.1/ { print $1 ~ /^\// ? $1 : $3; exit }' \
			"$work/objects")
		same "real $options" "$(readlink "${drop_in_loaded%/*}/libibverbs-real.so.1")" \
			"$work/inner/libibverbs.so.1"
	done
	same 'the users stay' "$(LD_PRELOAD=/a "$run" --preload --real "$work/outer" "$run" \
		--real "$work/inner" --print 2> /dev/null | sed -n 's/.*LD_PRELOAD=.*:\(.*\)./\1/p')" /a
}

settings_are_variables() {
	cd "$work" || return
	same 'variables' "$("$run" --set diagnostics=verbose --set diagnostics_file=log \
		--set transparent_huge_pages=no sh -c \
		'echo "$IBVBUF_DIAGNOSTICS $IBVBUF_DIAGNOSTICS_FILE $IBVBUF_TRANSPARENT_HUGE_PAGES"')" \
		"verbose $work/log no"
	same 'an empty path' "$("$run" --set diagnostics_file= printenv IBVBUF_DIAGNOSTICS_FILE)" ''
}

printed_quotes_are_safe() {
	value="/it's \$(false) \"\\
end"
	same 'the value' "$(LD_LIBRARY_PATH=$value printed LD_LIBRARY_PATH "$run" --print)" \
		"$(printed LD_LIBRARY_PATH "$run" --print):$value"
}

real_is_what_the_loader_takes() {
	same_choice
	LD_LIBRARY_PATH=/nonexistent:$programs/vendor; export LD_LIBRARY_PATH
	same_choice
	# another copy, so that the choice can be told
	mkdir "$work/copy one" "$work/wrong"
	cp "$real_library" "$work/copy one/libibverbs.so.1"
	LD_LIBRARY_PATH=$work/nothing:$work/copy\ one:$programs/vendor
	same_choice
	same 'the library' "$(real_choice)" "$work/copy one/libibverbs.so.1"
	cd "$work" || return
	LD_LIBRARY_PATH='copy one'
	same_choice
	same 'relative' "$(real_choice)" "$work/copy one/libibverbs.so.1"
	cd "$work/copy one" || return
	for LD_LIBRARY_PATH in '/nothing::/nothing' ':' '/nothing:'; do
		same_choice
		same "'$LD_LIBRARY_PATH'" "$(real_choice)" "$work/copy one/libibverbs.so.1"
	done
	# what is none, or the drop-in itself, is passed over
	echo text > "$work/wrong/libibverbs.so.1"
	LD_LIBRARY_PATH=$work/wrong:$(dirname "$drop_in"):$work/copy\ one
	same 'passed over' "$(real_choice)" "$work/copy one/libibverbs.so.1"
	if [ -e "$programs/32-bit" ]; then
		cp "$programs/32-bit" "$work/wrong/libibverbs.so.1"
		LD_LIBRARY_PATH=$work/wrong:$work/copy\ one
		same '32-bit' "$(real_choice)" "$work/copy one/libibverbs.so.1"
	fi
}

real_in_a_folder_for_better_processors() {
	grep -qw sse4_2 /proc/cpuinfo || skip 'no processor features with a folder of their own'
	/lib64/ld-linux-x86-64.so.2 --help 2> /dev/null | grep -q 'x86-64-v2.*supported' ||
		skip 'this dynamic linker has no such folders'
	mkdir -p "$work/better/glibc-hwcaps/x86-64-v2"
	cp "$real_library" "$work/better/libibverbs.so.1"
	cp "$real_library" "$work/better/glibc-hwcaps/x86-64-v2/libibverbs.so.1"
	LD_LIBRARY_PATH=$work/better; export LD_LIBRARY_PATH
	same_choice
	same 'the library' "$(real_choice)" "$work/better/glibc-hwcaps/x86-64-v2/libibverbs.so.1"
}

real_of_the_programs_own_folders() {
	same 'RPATH' "$(real_choice "$programs/old-rpath")" "$programs/vendor/libibverbs.so.1"
	same 'RUNPATH' "$(real_choice "$programs/new-runpath")" "$programs/vendor/libibverbs.so.1"
	cp "$real_library" "$work/home/libibverbs.so.1"
	LD_LIBRARY_PATH=$work/home; export LD_LIBRARY_PATH
	same 'RPATH' "$(real_choice "$programs/old-rpath")" "$programs/vendor/libibverbs.so.1"
	same 'RUNPATH' "$(real_choice "$programs/new-runpath")" "$work/home/libibverbs.so.1"
	rm "$work/home/libibverbs.so.1"
}

real_that_is_named() {
	cp "$real_library" "$work/vendor-verbs.so"
	cd "$work" || return
	same 'a file' "$(real_choice --real vendor-verbs.so)" "$work/vendor-verbs.so"
	same 'a folder' "$(real_choice --real programs/vendor)" "$work/programs/vendor/libibverbs.so.1"
	same 'served' "$("$run" --real vendor-verbs.so "$programs/new-linked")" served
}

# As conda's is: what it needs lies beside it, and is found from $ORIGIN.
real_that_needs_its_neighbours() {
	mkdir "$work/neighbours"
	for name in one two; do
		echo "void $name(void); void $name(void) {}" > "$work/neighbours/$name.c"
	done
	compile -shared -fPIC -o "$work/neighbours/libone.so" "$work/neighbours/one.c" \
		-Wl,-soname,libone.so
	compile -shared -fPIC -o "$work/neighbours/libtwo.so" "$work/neighbours/two.c" \
		-Wl,-soname,libtwo.so,--no-as-needed,-rpath,'$ORIGIN' "$work/neighbours/libone.so"
	compile -shared -fPIC -I"$sources/../../include" \
		-Wl,-soname,libibverbs.so.1,--no-as-needed,-rpath,'$ORIGIN' \
		-Wl,--version-script,"$sources/programs/fake_devices.map" \
		-o "$work/neighbours/libibverbs.so.1" "$sources/programs/fake_devices.c" \
		"$work/neighbours/libtwo.so"
	for options in '' --preload; do
		# shellcheck disable=SC2086 # none or one
		same "served $options" "$(LD_LIBRARY_PATH=$work/neighbours "$run" $options \
			"$programs/new-linked")" served
		# shellcheck disable=SC2086 # none or one
		same "served $options" "$("$run" $options --real "$work/neighbours" \
			"$programs/new-linked")" served
		"$run" --check --real "$work/neighbours" "$programs/new-linked"
	done
}

no_library_is_said() {
	# an empty root in which only the launcher is
	need_root
	unshare -m true 2> /dev/null || skip 'no mount namespace can be made'
	same 'status' "$(status_of unshare -m sh -c 'mount -t tmpfs none /mnt && : > /mnt/cache &&
		mount --bind /mnt/cache /etc/ld.so.cache &&
		mount --bind /mnt/cache "$(realpath "$2")" && exec "$1" true' sh "$run" "$real_library")" 125
	grep -q 'no libibverbs.so.1 found; install it' "$work/status.output"
}

missing_files_are_said() {
	mkdir "$work/empty"
	for options in '' --plain; do
		# shellcheck disable=SC2086 # none or one
		same "$options" "$(IBVBUF_LIBDIR=$work/empty status_of "$run" $options true)" 125
		grep -q "'$work/empty/.*No such file or directory; install" "$work/status.output"
	done
}

build_tree_is_found() {
	readlink "$(printed LD_LIBRARY_PATH "$build/ibvbuf-run" --print)/libibverbs.so.1" > "$work/link"
	same 'the drop-in' "$(cat "$work/link")" "$build/dropin/libibverbs.so.1"
}

expect 'the process, its signals and its name are the program'\''s' process_is_the_programs
expect 'exit codes and signals pass through' exit_codes_pass
expect 'what cannot be executed ends as with env' failures_are_those_of_env
expect 'arguments pass unchanged' arguments_pass
expect 'standard input passes' input_passes
expect 'a text without #! is for the shell' text_without_interpreter_is_for_sh
expect 'errors of usage end with 125 and say why' usage_errors_are_125
expect 'an option that is none is named' wrong_options_are_named
expect '--help and --version' help_and_version
expect 'a program without verbs loads nothing' nothing_is_loaded_without_verbs
expect 'its processes look in the folder, a bounded number of times, and no more' \
	unserved_processes_only_look
expect 'LD_LIBRARY_PATH: ours first, the user'\''s behind' path_is_first_and_users_stay
expect 'LD_PRELOAD: the user'\''s stays behind' preloads_of_the_users_stay
expect 'starts within starts change nothing' starts_within_starts
expect 'starts within starts: the inner --real counts' inner_real_counts
expect '--set becomes variables, paths absolute' settings_are_variables
expect '--print can be read by a shell' printed_quotes_are_safe
expect 'the real library is the loader'\''s choice' real_is_what_the_loader_takes
expect 'also in a folder for better processors' real_in_a_folder_for_better_processors
expect 'also in the program'\''s RPATH and RUNPATH' real_of_the_programs_own_folders
expect '--real names a file or a folder' real_that_is_named
expect 'a library that finds its needs from $ORIGIN' real_that_needs_its_neighbours
expect 'no libibverbs at all is said, with the remedy' no_library_is_said
expect 'missing files of the shim are said, with the remedy' missing_files_are_said
expect 'the build tree'\''s own files are found' build_tree_is_found
