package config

import "strings"

// desktop is what a program must know to find the desktop of the user.
var desktop = [...]string{"DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY"}

// DesktopEnv keeps of environ what a program needs that shows something on the user's
// desktop. A server may have been started where nobody said where that is: then it is
// where systems put it.
func DesktopEnv(environ []string) []string {
	out := filterEnviron(environ, func(name string) bool {
		for _, d := range desktop {
			if name == d {
				return true
			}
		}
		return isCommon(name)
	})
	bus, run := false, ""
	for _, kv := range out {
		bus = bus || strings.HasPrefix(kv, "DBUS_SESSION_BUS_ADDRESS=")
		if dir, ok := strings.CutPrefix(kv, "XDG_RUNTIME_DIR="); ok {
			run = dir
		}
	}
	if !bus && run != "" {
		out = append(out, "DBUS_SESSION_BUS_ADDRESS=unix:path="+run+"/bus")
	}
	return out
}
