package server

import (
	"fmt"

	"orange/internal/adapter/attend"
)

// noLivingAttempts refuses to write effects down where agents live: such a server believes
// everybody, an agent among them, and would never end one.
func noLivingAttempts(home string) error {
	boot := attend.BootID()
	for _, dir := range globIn(home, "attempts/*/*") {
		state, err := attend.Folder(dir).ReadState(boot)
		if err == nil && (state.Phase == attend.Running || state.Phase == attend.Starting) {
			return fmt.Errorf("effects cannot be written down only, because agents live in %s: give another data folder with ORANGE_HOME, or unset ORANGE_EFFECTS", home)
		}
	}
	return nil
}
