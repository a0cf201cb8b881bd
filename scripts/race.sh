#!/bin/sh
# Prints the flags of go test for tests with the race detector. SQLite, which is C translated to Go, and the C library that
# it calls are left out: they share nothing with our goroutines but what database/sql and the driver guard, which are
# watched, and watching every access of theirs to memory takes four fifths of the processor time of tests that have a store.
echo "-race -gcflags=modernc.org/sqlite/lib=-race=false -gcflags=modernc.org/libc=-race=false"
