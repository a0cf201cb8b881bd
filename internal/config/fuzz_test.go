package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/config"
)

// FuzzFile reads any text as config.json.
func FuzzFile(f *testing.F) {
	for _, seed := range []string{
		"", "{}", `{"workflow":"w","pool_size":4,"idle_exit":"30m","log_level":"debug","sessions":"headless","agent_env":["A"],"effects":"record"}`,
		`{"notify":[{"kind":"webhook","url":"http://127.0.0.1:1/x","on":["question"],"secret":"env:ORANGE_SECRET_A"}]}`, `{"web":"127.0.0.1:0"}`, `{"a":1,"a":2}`, "\ufeff{}",
	} {
		f.Add([]byte(seed))
	}
	dir := f.TempDir()
	path := filepath.Join(dir, "orange", "config.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(env("XDG_CONFIG_HOME", dir, "HOME", dir), at(dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range append(c.Problems, config.Problem{Err: c.Unsafe}) {
			if p.Err != nil && strings.ContainsAny(p.Err.Error(), "\n\r") {
				t.Errorf("error of several lines: %q", p.Err)
			}
		}
		if c.PoolSize < 0 || c.IdleExit < 0 || c.LogLevel == "" || c.RecordHere {
			t.Errorf("%+v", c)
		}
		if c.Web != "" && config.CheckLoopback(c.Web) != nil {
			t.Errorf("web is %q", c.Web)
		}
		for _, n := range c.Notify {
			if err := n.Check(); err != nil {
				t.Error(err)
			}
		}
	})
}
