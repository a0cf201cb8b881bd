package server

import (
	"context"
	"os"

	"orange/internal/config"
	"orange/internal/ui/cli"
	"orange/internal/ui/tui"
)

// DashboardRunner shows the dashboard on this terminal.
func DashboardRunner(cfg config.Config) func(context.Context, cli.DashboardOptions) error {
	return func(ctx context.Context, o cli.DashboardOptions) error {
		then, err := tui.Run(ctx, tui.Options{
			API: o.Client, In: os.Stdin, Out: os.Stdout, Environ: o.Environ,
			Project: o.Project, Hint: o.Hint, Once: o.Once, Create: o.Create, NoColor: cfg.NoColor, Bell: wantsBell(cfg.Notify), Harness: o.Harness,
		})
		if err != nil || len(then) == 0 {
			return err
		}
		return o.Exec(then, tui.OutsideTmux(o.Environ))
	}
}

// wantsBell says whether a person wants to hear the terminal's bell.
func wantsBell(list []config.Notify) bool {
	for _, n := range list {
		if n.Kind == "bell" {
			return true
		}
	}
	return false
}
