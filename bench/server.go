package main
func server(r *report, dir, orange string) error { return nil }
