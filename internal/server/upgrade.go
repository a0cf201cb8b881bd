package server

import (
	"context"
	"errors"
	"os"

	"orange/internal/adapter/release"
	"orange/internal/adapter/shim"
	"orange/internal/adapter/sqlite"
	"orange/internal/config"
	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/server/homestore"
	"orange/internal/server/reach"
	"orange/internal/ui/cli"
)

// Formats returns the versions of what this program stores.
func Formats() cli.Formats {
	return cli.Formats{Store: sqlite.SchemaVersion(), Rules: engine.Rules, Entries: journal.CountTypes()}
}

// NewUpgrader returns what orange upgrade needs of this machine and of a data folder.
func NewUpgrader(cfg config.Config) cli.Upgrader { return upgrader{cfg} }

type upgrader struct{ cfg config.Config }

// OpenRelease implements cli.Upgrader.
func (u upgrader) OpenRelease(ctx context.Context, from string) (cli.Replacement, error) {
	if shim.BelongsToAttempt(os.Getpid(), u.cfg.Home) { // whatever its environment says
		return cli.Replacement{}, errors.New("an agent may not do this: leave it to a person")
	}
	self, err := os.Executable()
	if err != nil {
		return cli.Replacement{}, err
	}
	source, err := release.Find(from)
	if err != nil {
		return cli.Replacement{}, err
	}
	up, err := source.Prepare(ctx, self)
	if err != nil {
		return cli.Replacement{}, err
	}
	return cli.Replacement{File: source.File, Verified: source.Verified, Program: up.Program, Same: up.Same, Replacing: up}, nil
}

// StoreSchema implements cli.Upgrader.
func (u upgrader) StoreSchema() (int, error) {
	now, err := sqlite.ReadProgress(homestore.Path(u.cfg.Home))
	return now.Schema, err
}

// KeepStore implements cli.Upgrader.
func (u upgrader) KeepStore() (cli.KeptStore, error) {
	held, err := reach.TakeFolder(u.cfg)
	if err != nil {
		return nil, err
	}
	kept, err := homestore.Keep(u.cfg.Home)
	return kept, errors.Join(err, held.Release())
}
