#!/bin/sh
# Makes a folder in memory for the temporary files of tests, and prints its path. The caller removes it.
# The folder is on disk if memory has less than 4 GB for files, or does not let programs run from there.
#
# Tests make and remove tens of thousands of small files. ext4 does not reuse the number of a file that was removed
# in the last seconds, and searches for another one: on a disk, half of the processor time of such tests goes there.
# Callers set TMPDIR and GOTMPDIR, because testing prefers GOTMPDIR.
set -eu
least=4000000 # blocks of 1 KB
if [ -z "${TMPDIR:-}" ] && [ "$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $4 }')" -ge "$least" ] 2>/dev/null &&
	dir=$(mktemp -d /dev/shm/o.XXXXXX 2>/dev/null); then
	printf '#!/bin/sh\n' >"$dir/program" && chmod 755 "$dir" "$dir/program"
	if "$dir/program" 2>/dev/null; then
		rm "$dir/program"
		echo "$dir"
		exit 0
	fi
	rm -rf "$dir"
fi
dir=$(mktemp -d "${TMPDIR:-/tmp}/o.XXXXXX")
chmod 755 "$dir" # tests run programs in it as another user
echo "$dir"
