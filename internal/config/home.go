package config

import (
	"fmt"
	"os"
)

// CheckHome returns an error if other users can write the data folder: they could change the
// store, the keys and the prompts of agents.
func CheckHome(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("check the data folder: %w; set ORANGE_HOME to a folder you may write", err)
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("others can write the data folder %s (mode %04o): run chmod go-w %s, and check what is in it", dir, info.Mode().Perm(), dir)
	}
	return nil
}
