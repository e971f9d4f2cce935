# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=sh disable=SC2154,SC2016 # variables of test/launcher/check; inner shells
#
# --trace and --summary. What the tests' programs call is recorded: an ibv_alloc_buf that fails.

tracer=$work/prefix/bin/ibvbuf-trace

# A launcher whose reader tells what it was given, by the files' names.
mkdir -p "$work/told/bin"
cp "$run" "$work/told/bin/"
cat > "$work/told/bin/ibvbuf-trace" <<'END'
#!/bin/sh
echo "command $1"
shift
for file; do
	echo "file ${file##*/}"
done
END
chmod +x "$work/told/bin/ibvbuf-trace"
told() {
	IBVBUF_LIBDIR=$work/prefix/lib/ibvbuf "$work/told/bin/ibvbuf-run" "$@"
}

# comes_true COMMAND...: within ten seconds
comes_true() {
	for _ in $(seq 100); do
		"$@" && return
		sleep 0.1
	done
	echo "not within ten seconds: $*"
	return 1
}

# in_new_folder NAME: empty, and the current one
in_new_folder() {
	mkdir "$work/$1" && cd "$work/$1" || return
	work_folder=$work/$1
}

# the_file FOLDER: the only one there
the_file() {
	same 'files' "$(find "$1" -type f | wc -l)" 1
	find "$1" -type f
}

records_of() {
	"$tracer" csv "$1" | grep -c ibv_alloc_buf
}

file_in_the_current_folder() {
	for options in '' --preload --plain; do
		in_new_folder "trace-current$options"
		program=$programs/new-linked
		[ "$options" != --plain ] || program=$programs/old-linked
		# shellcheck disable=SC2086 # none or one
		same 'served' "$("$run" $options --trace "$program")" served
		file=$(the_file .)
		echo "$file" | grep -Eq "^\./${program##*/}-[0-9]+\.ibvtrace\$"
		same 'records' "$(records_of "$file")" 1
	done
}

file_that_is_named() {
	in_new_folder trace-named
	mkdir elsewhere 'folder %e'
	"$run" --trace=one "$programs/new-linked"
	"$run" --trace="$work_folder/two-%e" "$programs/new-linked"
	"$run" --set trace=three "$programs/new-linked"
	# the program is somewhere else when it makes the file
	"$run" --trace=four sh -c 'cd elsewhere && exec "$0"' "$programs/new-linked"
	for file in one two-new-linked three four; do
		same "$file" "$(records_of "$file")" 1
	done
}

file_in_a_folder_that_is_named() {
	in_new_folder trace-folder
	mkdir elsewhere '100%p'
	"$run" --trace=elsewhere "$programs/new-linked"
	same 'records' "$(records_of "$(the_file elsewhere)")" 1
	# what stands for something in a pattern is itself in the current folder's name
	cd '100%p' || return
	"$run" --trace "$programs/new-linked"
	same 'records' "$(records_of "$(the_file .)")" 1
}

folder_below_a_percent_sign() {
	in_new_folder trace-percent
	mkdir -p '50%p/elsewhere' '50%p/%p'
	cd '50%p' || return
	for folder in elsewhere %p "$work_folder/50%p/%p"; do
		"$run" --trace="$folder" "$programs/new-linked"
		file=$(the_file "$folder")
		same 'records' "$(records_of "$file")" 1
		rm "$file"
	done
}

# An absolute name needs none.
no_current_folder() {
	in_new_folder trace-deleted
	mkdir gone
	cd gone || return
	rmdir ../gone
	"$run" --trace="$work_folder/file" "$programs/new-linked"
	same 'records' "$(records_of "$work_folder/file")" 1
	same 'relative' "$(status_of "$run" --trace=file true)" 125
}

pattern_is_printed() {
	in_new_folder trace-printed
	same 'the pattern' "$(printed IBVBUF_TRACE "$run" --trace --print)" \
		"$work_folder/%e-%p.ibvtrace"
	same 'the pattern' "$(printed IBVBUF_TRACE "$run" --trace=a --print)" "$work_folder/a"
	same 'no pattern' "$(printed IBVBUF_TRACE "$run" --print)" ''
}

summary_is_on_standard_error() {
	in_new_folder summary-streams
	"$run" --summary "$programs/new-linked" > output 2> errors
	same 'standard output' "$(cat output)" served
	reports 'ibv_alloc_buf' errors
	told --summary "$programs/new-linked" > output 2> errors
	same 'standard output' "$(cat output)" served
	same 'the command' "$(head -n 1 errors)" 'command summary'
}

# in_new_temporary NAME: a new folder; where private ones are made is one in it
in_new_temporary() {
	in_new_folder "$1"
	mkdir temporary
	TMPDIR=$work_folder/temporary; export TMPDIR
}

summary_without_standard_error() {
	in_new_temporary summary-closed
	told --summary "$programs/new-linked" > output 2>&-
	same 'standard output' "$(cat output)" served
	same 'nothing traced' "$(told --summary true 2>&-)" ''
	same 'what is left' "$(ls -A temporary)" ''
}

# Writing to the pipe raises SIGPIPE.
summary_that_nobody_reads() {
	in_new_temporary summary-unread
	mkfifo pipe
	exec 3<> pipe 4> pipe 3<&-
	for command in : '"$0" > /dev/null'; do
		status=0
		IBVBUF_LIBDIR=$work/prefix/lib/ibvbuf env --default-signal=PIPE \
			"$work/told/bin/ibvbuf-run" --summary sh -c "$command; exit 7" \
			"$programs/new-linked" 2>&4 || status=$?
		same "status after $command" "$status" 7
	done
	same 'what is left' "$(ls -A temporary)" ''
}

summary_of_a_hidden_program() {
	in_new_temporary summary-hidden
	cp "$programs/new-linked" .hidden
	told --summary ./.hidden > output 2> errors
	grep -q '^file \.hidden-' errors
	same 'what is left' "$(ls -A temporary)" ''
	told --trace=%e --summary ./.hidden > output 2> errors
	same 'the file' "$(grep '^file' errors)" 'file .hidden.1'
}

summary_keeps_nothing() {
	in_new_temporary summary-private
	same 'rights' "$(told --summary sh -c 'stat -c %a "${IBVBUF_TRACE%/*}"; "$0" > /dev/null' \
		"$programs/new-linked" 2> errors)" 700
	grep -q '^file new-linked-' errors
	same 'what is left' "$(find . -type f ! -name errors)" ''
	same 'what is left' "$(ls temporary)" ''
	# also where nothing was traced, or the program cannot be started
	told --summary true 2> errors
	reports 'nothing was traced' errors
	same 'not found' "$(status_of told --summary no-such-program)" 127
	same 'what is left' "$(ls temporary)" ''
}

summary_covers_children() {
	in_new_folder summary-children
	told --summary sh -c '"$0" & "$0"; wait; exec "$1"' "$programs/new-linked" \
		"$programs/stub-linked" 2> errors
	same 'files' "$(sed -n 's/^file \(.*\)-[0-9]*\.ibvtrace$/\1/p' errors | sort | xargs)" \
		'new-linked new-linked stub-linked'
}

summary_is_of_this_run() {
	in_new_folder summary-named
	"$run" --trace=a-%p "$programs/new-linked"
	"$run" --trace=b "$programs/new-linked"
	# of these names are others' files, too
	echo text > a-text
	told --trace=a-%p --summary "$programs/new-linked" 2> errors
	same 'files' "$(grep -c '^file a-[0-9]*$' errors)" 1
	told --trace=b --summary "$programs/new-linked" 2> errors
	same 'the file' "$(grep '^file' errors)" 'file b.1'
	# the files stay
	same 'files' "$(find . -name 'a-[0-9]*' | wc -l)" 2
	same 'records' "$(records_of b.1)" 1
}

summary_ends_as_the_program() {
	for code in 0 1 7 125 255; do
		same "exit $code" "$(status_of told --summary sh -c "exit $code")" "$code"
	done
	for signal in KILL TERM SEGV; do
		same "$signal" "$(status_of told --summary sh -c "kill -$signal \$\$")" \
			"$(status_of sh -c "kill -$signal \$\$")"
	done
}

# What is sent to the launcher ends the program, which tells its signal by its exit code.
summary_passes_signals() {
	in_new_folder summary-signals
	code=10
	for signal in HUP INT QUIT TERM USR1 USR2 ALRM PROF VTALRM XCPU PWR RTMIN; do
		code=$((code + 1))
		rm -f ready
		IBVBUF_LIBDIR=$work/prefix/lib/ibvbuf env --default-signal="$signal" \
			"$work/told/bin/ibvbuf-run" --summary sh -c \
			'trap "kill \$!; exit $1" "$0"; sleep 30 & : > ready; wait' "$signal" "$code" 2> errors &
		pid=$!
		comes_true [ -e ready ]
		kill -s "$signal" "$pid"
		status=0
		wait "$pid" || status=$?
		same "$signal" "$status" "$code"
	done
}

# The timer is of the launcher's process, and not of the program's.
summary_passes_an_alarm() {
	same 'status' "$(status_of env --default-signal=ALRM "$programs/with-alarm" "$run" --summary \
		sh -c 'trap "kill \$!; exit 9" ALRM; sleep 30 & wait')" 9
}

# The leader of a session gets SIGHUP when its terminal goes, and nobody else.
summary_passes_a_hangup() {
	command -v script > /dev/null || skip 'no script(1)'
	in_new_folder summary-hangup
	cat > command <<END
#!/bin/sh
exec env --default-signal=HUP "$run" --summary sh -c \
	'trap "kill \$!; : > hung-up; exit" HUP; sleep 30 & : > ready; wait'
END
	chmod +x command
	SHELL=/bin/sh script -qc 'exec ./command' /dev/null < /dev/null > output 2>&1 &
	comes_true [ -e ready ]
	kill -KILL "$!"
	comes_true [ -e hung-up ]
}

state_is() {
	[ "$(sed 's/.*) \(.\).*/\1/' "/proc/$1/stat")" = "$2" ]
}

summary_stops_and_goes_on() {
	in_new_folder summary-stops
	"$run" --summary sh -c 'kill -STOP $$; exit 5' 2> errors &
	pid=$!
	comes_true state_is "$pid" T
	kill -CONT "$pid"
	status=0
	wait "$pid" || status=$?
	same 'status' "$status" 5
}

# A shell that starts a program in the background may have told it to ignore some.
signals_are_as_they_were() {
	for options in '' --summary; do
		# shellcheck disable=SC2086 # none or one
		env --ignore-signal=HUP,CHLD "$run" $options grep -E '^Sig(Blk|Ign)' /proc/self/status \
			2> /dev/null > "$work/signals$options"
	done
	same 'signals' "$(cat "$work/signals--summary")" "$(cat "$work/signals")"
	same 'a code' "$(status_of env --ignore-signal=CHLD "$run" --summary sh -c 'exit 9')" 9
}

has_ended() {
	[ ! -e "/proc/$1" ] || state_is "$1" Z
}

# What cannot be passed on.
summary_killed() {
	in_new_temporary summary-killed
	IBVBUF_LIBDIR=$work/prefix/lib/ibvbuf "$work/told/bin/ibvbuf-run" --summary \
		sh -c 'echo $$ > new && mv new process; exec sleep 30' 2> errors &
	pid=$!
	comes_true [ -e process ]
	kill -KILL "$pid"
	comes_true has_ended "$(cat process)"
}

# Its parent is then outside, and has no number there.
summary_in_a_new_pid_namespace() {
	unshare -p true 2> /dev/null || skip 'no PID namespace can be made'
	same 'status' "$(IBVBUF_LIBDIR=$work/prefix/lib/ibvbuf status_of unshare -p \
		"$work/told/bin/ibvbuf-run" --summary sh -c 'exit 6')" 6
}

summary_without_proc() {
	need_root
	unshare -m true 2> /dev/null || skip 'no mount namespace can be made'
	same 'status' "$(IBVBUF_LIBDIR=$work/prefix/lib/ibvbuf status_of unshare -m sh -c \
		'mount -t tmpfs none /proc && exec "$0" --summary true' "$run")" 125
	reports '/proc/self/exe.*No such file or directory; --summary needs /proc' \
		"$work/status.output"
}

summary_needs_its_reader() {
	mkdir -p "$work/lonely/bin"
	cp "$run" "$work/lonely/bin/"
	same 'status' "$(IBVBUF_LIBDIR=$work/prefix/lib/ibvbuf status_of \
		"$work/lonely/bin/ibvbuf-run" --summary true)" 125
	reports "lonely/bin/ibvbuf-trace': No such file or directory; --summary needs it" \
		"$work/status.output"
}

expect '--trace: a file for the process, in the current folder' file_in_the_current_folder
expect '--trace=FILE: wherever the program is by then' file_that_is_named
expect '--trace=FOLDER: a file in it; "%" in its name is itself' file_in_a_folder_that_is_named
expect '--trace=FOLDER: below one with "%" in its name' folder_below_a_percent_sign
expect '--trace=FILE: absolute, where the current folder is gone' no_current_folder
expect '--trace: --print shows the pattern' pattern_is_printed
expect '--summary: on standard error, apart from the output' summary_is_on_standard_error
expect '--summary: nowhere without a standard error' summary_without_standard_error
expect '--summary: that nobody reads changes nothing' summary_that_nobody_reads
expect '--summary: in a private folder that goes' summary_keeps_nothing
expect '--summary: of all processes' summary_covers_children
expect '--summary: of programs whose name begins with a dot' summary_of_a_hidden_program
expect '--summary: of the files that this run made' summary_is_of_this_run
expect '--summary: ends as the program did' summary_ends_as_the_program
expect '--summary: passes signals on' summary_passes_signals
expect '--summary: passes on the alarm of an earlier program' summary_passes_an_alarm
expect '--summary: passes on the hangup of its terminal' summary_passes_a_hangup
expect '--summary: stops and goes on with the program' summary_stops_and_goes_on
expect '--summary: the program'\''s signals are as without it' signals_are_as_they_were
expect '--summary: killed, it takes the program with it' summary_killed
expect '--summary: in a new PID namespace' summary_in_a_new_pid_namespace
expect '--summary: without /proc says what is missing' summary_without_proc
expect '--summary: without the reader says what is missing' summary_needs_its_reader
