package config

import (
	"fmt"
	"os"
)

// CheckHome says why a data folder cannot be trusted: whoever can write it can write the
// store, the keys and what agents are told.
func CheckHome(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("look at the data folder: %w; set ORANGE_HOME to a folder you may write", err)
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("others can write the data folder %s (mode %04o): run chmod go-w %s, and look at what is in it", dir, info.Mode().Perm(), dir)
	}
	return nil
}
