# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=sh disable=SC2154,SC2016 # variables of test/launcher/check; inner shells
#
# The folder of links, and where it is made.

run_folder() {
	printed LD_LIBRARY_PATH "$run" --print "$@"
}

# What a good folder is: of this user, closed to others, with the three links.
is_good_folder() {
	[ -d "$1" ] || { echo "no folder '$1'"; return 1; }
	same 'links' "$(cd "$1" && echo ./*)" './libibverbs-real.so.1 ./libibverbs.so ./libibverbs.so.1'
	same 'drop-in' "$(readlink "$1/libibverbs.so.1")" "$drop_in"
	same 'drop-in' "$(readlink "$1/libibverbs.so")" "$drop_in"
	same 'real' "$(realpath "$1/libibverbs-real.so.1")" "$real_library"
	same 'mode' "$(stat -c %a "$1")" 700
	same 'mode' "$(stat -c %a "$(dirname "$1")")" 700
}

folder_in_runtime_folder() {
	is_good_folder "$(run_folder)"
	same 'place' "$(dirname "$(run_folder)")" "$work/runtime/ibvbuf"
}

folder_in_cache() {
	unset XDG_RUNTIME_DIR
	is_good_folder "$(run_folder)"
	same 'place' "$(dirname "$(run_folder)")" "$work/home/.cache/ibvbuf-preload/run"
	mkdir -m 700 "$work/cache"
	XDG_CACHE_HOME=$work/cache; export XDG_CACHE_HOME
	same 'place' "$(dirname "$(run_folder)")" "$work/cache/ibvbuf-preload/run"
	same 'relative' "$(XDG_CACHE_HOME=cache run_folder | grep -c "$work/cache")" 0
}

folder_in_tmp() {
	unset XDG_RUNTIME_DIR HOME
	is_good_folder "$(run_folder)"
	same 'place' "$(dirname "$(run_folder)")" "/tmp/ibvbuf-$(id -u)"
	HOME=$work/no-such-home; export HOME
	same 'place' "$(dirname "$(run_folder)")" "/tmp/ibvbuf-$(id -u)"
	# nothing else of this place is the test's
	rm -r "$(run_folder)"
	rmdir "/tmp/ibvbuf-$(id -u)" 2> /dev/null || true
}

folder_is_used_again() {
	same 'the folder' "$(run_folder)" "$(run_folder)"
	before=$(stat -c '%i %Y' "$(run_folder)")
	"$run" true
	same 'untouched' "$(stat -c '%i %Y' "$(run_folder)")" "$before"
	other=$(run_folder --real "$programs/fake_devices.so")
	[ "$other" != "$(run_folder)" ] || { echo 'two libraries, one folder'; return 1; }
}

folder_is_mended() {
	folder=$(run_folder)
	rm "$folder/libibverbs.so" "$folder/libibverbs-real.so.1"
	ln -sf /nonexistent "$folder/libibverbs.so.1"
	run_folder > /dev/null
	is_good_folder "$folder"
}

# Paths that a list of paths cannot hold are not used; others are.
folder_with_odd_names() {
	for name in 'with space' 'new
line' 'a*?[b]' "it's \"quoted\"" 'ü'; do
		mkdir -m 700 "$work/$name"
		same "'$name'" "$(XDG_RUNTIME_DIR=$work/$name "$run" "$programs/new-linked")" served
		same "'$name'" "$(dirname "$(XDG_RUNTIME_DIR=$work/$name run_folder)")" "$work/$name/ibvbuf"
	done
	for name in 'co:lon' 'semi;colon' '$ORIGIN'; do
		mkdir -m 700 "$work/$name"
		same "'$name'" "$(XDG_RUNTIME_DIR=$work/$name "$run" "$programs/new-linked")" served
		same "'$name'" "$(dirname "$(XDG_RUNTIME_DIR=$work/$name run_folder)")" \
			"$work/home/.cache/ibvbuf-preload/run"
	done
	# LD_PRELOAD ends a path at a space, too
	same 'preload' "$(XDG_RUNTIME_DIR="$work/with space" "$run" --preload "$programs/new-rpath")" served
}

# The files themselves may lie anywhere.
shim_with_odd_name() {
	odd=$work/'shim with: odd;
$ORIGIN name'
	cp -r "$work/prefix" "$odd"
	same 'default' "$("$odd/bin/ibvbuf-run" "$programs/new-linked")" served
	same 'preload' "$("$odd/bin/ibvbuf-run" --preload "$programs/new-rpath")" served
	same 'plain' "$("$odd/bin/ibvbuf-run" --plain "$programs/stub-linked")" served
	cp "$real_library" "$odd/libibverbs.so.1"
	same 'real' "$("$run" --real "$odd" "$programs/new-linked")" served
}

concurrent_first_starts() {
	mkdir -m 700 "$work/concurrent"
	XDG_RUNTIME_DIR=$work/concurrent; export XDG_RUNTIME_DIR
	for number in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 \
		26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50; do
		LD_PRELOAD=$programs/slow_symlink.so "$run" \
			sh -c 'echo "$("$1") in $LD_LIBRARY_PATH"' sh "$programs/new-linked" \
			> "$work/concurrent/$number.out" 2>&1 &
	done
	wait
	same 'served' "$(cat "$work"/concurrent/*.out | sort | uniq -c | tr -s ' ')" \
		" 50 served in $(run_folder)"
	same 'place' "$(dirname "$(run_folder)")" "$work/concurrent/ibvbuf"
	same 'folders' "$(find "$work/concurrent/ibvbuf" -mindepth 1 -maxdepth 1 | wc -l)" 1
	is_good_folder "$(run_folder)"
}

# other_start VARIABLES...: as another user, with just these
other_start() {
	as_other_user env -i PATH="$PATH" "$@" "$run" "$programs/new-linked"
}

unwritable_home() {
	need_root
	place=/tmp/ibvbuf-$other_user
	rm -rf "$place"
	same 'served' "$(other_start HOME=/)" served
	same 'owner' "$(stat -c '%u %a' "$place")" "$other_user 700"
	rm -rf "$place"
	same 'served' "$(other_start HOME="$work/home" XDG_RUNTIME_DIR="$work/runtime")" served
	[ -d "$place" ] || { echo 'not in /tmp'; return 1; }
	rm -rf "$place"
}

# Nobody who could put something else there is trusted.
hostile_folder_in_tmp() {
	need_root
	place=/tmp/ibvbuf-$other_user
	for kind in root open link file; do
		rm -rf "$place"
		case $kind in
		root) mkdir -m 755 "$place" && want='belongs to user 0' ;;
		open) mkdir "$place" && chown "$other_user" "$place" && chmod 777 "$place" &&
			want='can be written by others' ;;
		link) mkdir -p "$work/target" && chown "$other_user" "$work/target" &&
			ln -s "$work/target" "$place" && want='is a symbolic link' ;;
		file) : > "$place" && want='is not a folder' ;;
		esac
		same "$kind" "$(status_of other_start HOME=/)" 125
		grep -q "$place $want.*Set XDG_RUNTIME_DIR" "$work/status.output" ||
			{ cat "$work/status.output"; rm -rf "$place"; return 1; }
	done
	rm -rf "$place"
}

# Nor a way to the folder that another user could change.
hostile_way() {
	need_root
	chmod 755 "$work"
	mkdir "$work/theirs"
	mkdir -m 700 "$work/theirs/runtime"
	chown 61235 "$work/theirs"
	chown "$other_user" "$work/theirs/runtime"
	same 'served' "$(other_start HOME=/ XDG_RUNTIME_DIR="$work/theirs/runtime")" served
	same 'untouched' "$(ls -A "$work/theirs/runtime")" ''
	rm -rf "/tmp/ibvbuf-$other_user"
}

full_disk() {
	need_root
	unshare -m true 2> /dev/null || skip 'no mount namespace can be made'
	[ "${work#/tmp/}" = "$work" ] || skip 'the build is in /tmp itself'
	same 'status' "$(status_of unshare -m sh -c 'mount -t tmpfs -o nr_inodes=3,mode=700 none /mnt &&
		export XDG_RUNTIME_DIR=/mnt HOME=/mnt XDG_CACHE_HOME=/mnt/cache &&
		mount -t tmpfs -o nr_inodes=1 none /tmp && exec "$1" true' sh "$run")" 125
	grep -q 'No space left on device' "$work/status.output"
}

expect 'the folder of links is in the runtime folder' folder_in_runtime_folder
expect 'or else in the cache' folder_in_cache
expect 'or else in /tmp' folder_in_tmp
expect 'it is used again, and one for each pair of libraries' folder_is_used_again
expect 'links that are missing or wrong are mended' folder_is_mended
expect 'names that a list of paths cannot hold are avoided' folder_with_odd_names
expect 'the shim and the library may lie anywhere' shim_with_odd_name
expect '50 first starts at a time make one folder' concurrent_first_starts
expect 'a home that cannot be written is no obstacle' unwritable_home
expect 'a hostile folder in /tmp is refused' hostile_folder_in_tmp
expect 'a folder that others can replace is not used' hostile_way
expect 'a full disk is said' full_disk
