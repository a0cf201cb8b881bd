#!/bin/sh
# Prints the flags of go test for tests with the race detector. It leaves out
# SQLite, which is C translated to Go, and the C library that SQLite calls: database/sql and the driver, which the detector
# watches, guard everything that they share with our goroutines, and watching all their memory accesses takes four fifths of
# the processor time of tests with a store.
echo "-race -gcflags=modernc.org/sqlite/lib=-race=false -gcflags=modernc.org/libc=-race=false"
