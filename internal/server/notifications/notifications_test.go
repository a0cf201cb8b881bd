package notifications

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"orange/internal/config"
	"orange/internal/runtime/notifier"
)

func TestHowNotificationsWentIsKept(t *testing.T) {
	cfg := config.Config{Home: t.TempDir(), Notify: []config.Notify{{Kind: "desktop"}, {Kind: "bell"}}}
	s := Channels{Config: cfg}
	says := func(words string, broken bool) {
		t.Helper()
		text, err := s.Check(t.Context())
		if (err != nil) != broken || !strings.Contains(text+fmt.Sprint(err), words) {
			t.Errorf("the doctor says %q, %v", text, err)
		}
	}
	says("2 channels, 0 of them", false)
	one, two := cfg.Notify[0].Name(), cfg.Notify[1].Name()
	file := &deliveryFile{path: cfg.NotifyResultsFile(), names: map[string]bool{one: true, two: true}}
	at := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	check(t, os.WriteFile(cfg.NotifyResultsFile(), []byte(`{"gone-1":{"at":"2026-01-01T00:00:00Z"}}`), 0o600))
	check(t, file.recordResult(notifier.DeliveryResult{Channel: one, At: at}))
	check(t, file.recordResult(notifier.DeliveryResult{Channel: one, At: at.Add(time.Minute), Problem: "no desktop"}))
	check(t, file.recordResult(notifier.DeliveryResult{Channel: two, At: at}))
	got, err := config.ReadNotifyResults(cfg.NotifyResultsFile())
	check(t, err)
	if want := (config.NotifyResult{At: at.Add(time.Minute), OK: at, Problem: "no desktop"}); got[one] != want || len(got) != 2 {
		t.Errorf("kept is %+v", got)
	}
	says("desktop (number 1): no desktop", true)
	s.Config.Notify = nil
	says("no channel is configured", false)
	check(t, os.WriteFile(cfg.NotifyResultsFile(), []byte("{"), 0o600))
	check(t, file.recordResult(notifier.DeliveryResult{Channel: two, At: at})) // a broken file is replaced
	if entries, _ := os.ReadDir(cfg.Home); len(entries) != 1 {
		t.Errorf("left are %v", entries)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
