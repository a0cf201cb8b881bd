package server

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"orange/internal/adapter/harness"
	"orange/internal/config"
	"orange/internal/ui/client"
)

// playScript runs the agent of the script harness: it plays the steps of its role. It returns the exit code.
func playScript(file string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	cwd, _ := os.Getwd()
	return harness.PlayScript(ctx, harness.PlayOptions{
		File: file, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Dir: cwd, Env: config.Getenv, Hook: reportEvent,
	})
}

// reportEvent reports an event to the server, as a hook of another harness would.
func reportEvent(event string, payload []byte) error {
	cfg, err := config.Load(config.Getenv, os.UserHomeDir)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	c, err := client.Connect(ctx, client.DialOptions{Socket: cfg.Socket, Home: cfg.Home, Token: cfg.Token, Owner: OwnerFinder(cfg)})
	if err != nil {
		return err
	}
	defer c.Close()
	return c.ReportHook(ctx, "script", event, payload)
}
