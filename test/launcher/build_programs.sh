# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=sh disable=SC2154,SC2034 # variables of test/launcher/check
#
# The programs, in $work/programs, one a kind.

programs=$work/programs
mkdir -p "$programs/new" "$programs/vendor"

real_library=$(realpath "$("$compiler" -print-file-name=libibverbs.so)")
[ -e "$real_library" ] || {
	echo "test/launcher: no libibverbs to link with: apt-get install libibverbs-dev" >&2
	exit 1
}

compile() {
	"$compiler" -O1 "$@" || {
		echo "test/launcher: the programs to be tried cannot be built" >&2
		exit 1
	}
}

compile -shared -fPIC -Wl,-soname,libibverbs.so.1 \
	-Wl,--version-script,"$sources/programs/new_libibverbs.map" \
	-o "$programs/new/libibverbs.so" "$sources/programs/new_libibverbs.c"
compile -shared -fPIC -Wl,-soname,libibverbs.so.1 -I"$sources/../../include" \
	-Wl,--version-script,"$sources/programs/fake_devices.map" \
	-o "$programs/fake_devices.so" "$sources/programs/fake_devices.c"

compile -shared -fPIC -o "$programs/slow_symlink.so" "$sources/programs/slow_symlink.c"
compile -shared -fPIC -o "$programs/no_kill.so" "$sources/programs/no_kill.c"

user=$sources/programs/verbs_user.c
new=$programs/new/libibverbs.so
ln -s "$real_library" "$programs/vendor/libibverbs.so.1"
compile -o "$programs/old-linked" "$user" "$real_library" -ldl
compile -DREFERS -Wl,-z,lazy -o "$programs/new-linked" "$user" "$new" -ldl
compile -DREFERS -Wl,-z,now -o "$programs/binds-now" "$user" "$new" -ldl
# Without versions, as this project's stub has them: the program starts anywhere.
compile -DREFERS -fPIE -pie -Wl,-z,lazy -o "$programs/stub-linked" "$user" \
	"$build/libibvbuf.so" "$real_library" -ldl
compile -Wl,--disable-new-dtags,-rpath,"$programs/vendor" -o "$programs/old-rpath" "$user" \
	"$real_library" -ldl
compile -DREFERS -Wl,--disable-new-dtags,-rpath,"$programs/vendor" -o "$programs/new-rpath" \
	"$user" "$new" -ldl
# shellcheck disable=SC2016 # the dynamic linker expands it
compile -DREFERS -Wl,--enable-new-dtags,-rpath,'$ORIGIN/vendor' -o "$programs/new-runpath" \
	"$user" "$new" -ldl
compile -DOPENS -o "$programs/opens" "$user" -ldl
compile -o "$programs/with-alarm" "$sources/programs/with_alarm.c"
compile -static -o "$programs/static" "$sources/programs/no_verbs.c"
compile -o "$programs/no-verbs" "$sources/programs/no_verbs.c"
cat > "$programs/script" <<END
#!$programs/new-linked
END
cat > "$programs/env-script" <<END
#!/usr/bin/env new-linked
END
printf 'echo a shell\n' > "$programs/no-interpreter"
printf 'echo\0\n' > "$programs/no-program"
head -c 5000 "$programs/no-verbs" > "$programs/cut-short"
# Only the x86 machines have a 32-bit kind that this compiler makes.
if ! "$compiler" -m32 -nostdlib -static -ffreestanding -fno-pic -no-pie -O1 \
	-o "$programs/32-bit" "$sources/programs/exit_32bit.c" 2> /dev/null; then
	rm -f "$programs/32-bit"
fi
# The same for a machine that this is not: bytes 18 and 19 are the machine's number.
cp "$programs/no-verbs" "$programs/other-machine"
printf '\026\000' | dd of="$programs/other-machine" bs=1 seek=18 conv=notrunc 2> /dev/null
chmod 755 "$programs"/*
cp "$programs/old-linked" "$programs/old-set-user-id"
cp "$programs/new-linked" "$programs/new-set-user-id"
chmod 4755 "$programs/old-set-user-id" "$programs/new-set-user-id"
