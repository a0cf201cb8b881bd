package config

import "strings"

// desktop is what a program needs to find the user's desktop.
var desktop = [...]string{"DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY"}

// DesktopEnv returns the variables of environ that a program needs to show something on the
// user's desktop. If the server was started without them, DesktopEnv uses the standard
// locations.
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
