package server

import (
	"fmt"

	"orange/internal/adapter/shim"
)

// noLivingAttempts refuses to write effects down where agents live: such a server believes
// everybody, an agent among them, and would never end one.
func noLivingAttempts(home string) error {
	boot := shim.BootID()
	for _, dir := range globIn(home, "attempts/*/*") {
		state, err := shim.Folder(dir).ReadState(boot)
		if err == nil && (state.Phase == shim.Running || state.Phase == shim.Starting) {
			return fmt.Errorf("effects cannot be written down only, because agents live in %s: give another data folder with ORANGE_HOME, or unset ORANGE_EFFECTS", home)
		}
	}
	return nil
}
