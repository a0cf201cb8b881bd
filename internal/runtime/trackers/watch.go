package trackers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"orange/internal/core/task"
	"orange/internal/core/tracker"
)

// HandleWebhook handles a webhook of a tracker. It only uses it to learn which issue to read. It ignores a webhook that
// was handled before.
func (o *Service) HandleWebhook(ctx context.Context, name string, header http.Header, body []byte) error {
	d, err := o.openTracker(name)
	if err != nil {
		return err
	}
	parser, ok := d.backend.(WebhookParser)
	if !ok {
		return task.Mistakef("tracker %s sends no webhooks: it is read at intervals", name)
	}
	ev, err := parser.ParseWebhook(header, body)
	if err != nil {
		return err
	}
	if ev.Delivery == "" {
		return errors.New("the webhook has no delivery id")
	}
	// A replayed request may name another delivery id, which is not signed.
	sum := sha256.Sum256(body)
	names := []string{ev.Delivery, "sha256:" + hex.EncodeToString(sum[:])}
	defer o.rounds.Lock(d.name)()
	for _, n := range names {
		if before, err := o.Store.HasDelivery(name, n, o.Now()); err != nil || before {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), followFor) // the sender may close the connection
	defer cancel()
	if err := o.syncEvent(ctx, d, ev); err != nil {
		return err // it is handled when it is sent again
	}
	for _, n := range names {
		if err := o.Store.RecordDelivery(name, n, o.Now()); err != nil {
			return err
		}
	}
	return nil
}

// followFor bounds how long handling a webhook may take.
const followFor = 2 * time.Minute

// syncEvent reads the issue or pull request that a webhook names.
func (o *Service) syncEvent(ctx context.Context, d *connection, ev tracker.Event) error {
	r, err := o.newRound(d)
	if err != nil {
		return err
	}
	open := o.withoutFinished(r.tasks)
	var others []string // keys of issues without an open task
	for _, key := range ev.Keys {
		at := slices.IndexFunc(open, func(t task.Task) bool { return t.TrackerRef == d.cfg.IssueRef(key) })
		if at < 0 {
			others = append(others, key)
			continue
		}
		if _, err := o.updateIssue(ctx, d, open[at]); err != nil {
			return err
		}
	}
	if len(ev.PRs) > 0 {
		if _, err := o.checkForges(ctx, open); err != nil {
			return err
		}
	}
	if len(ev.Keys) == 0 {
		return nil
	}
	if len(others) < len(ev.Keys) || len(ev.PRs) > 0 { // the signals may have changed them
		if r, err = o.newRound(d); err != nil {
			return err
		}
	}
	if d.cfg.Auto {
		if err := r.listIssues(ctx, d); err != nil {
			return err
		}
	}
	for _, key := range others {
		if err := o.keepOther(ctx, d, r, key); err != nil {
			return err
		}
	}
	if d.cfg.Auto {
		_, err = o.runRound(ctx, d, r)
	}
	return err
}

// keepOther reads and stores an issue that has no open task, unless the list of the round has all of it.
func (o *Service) keepOther(ctx context.Context, d *connection, r *round, key string) error {
	listed := r.listedIssue(key)
	if listed != nil && !listed.Brief {
		return nil
	}
	is, err := d.client.ReadIssue(ctx, key)
	if errors.Is(err, tracker.ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", key, err)
	}
	if listed != nil {
		*listed = is
	}
	return o.keepListed(d, r, &is)
}

// HasWatched reports whether any tracker is polled.
func (o *Service) HasWatched() bool {
	list, err := o.Store.Trackers()
	if err != nil {
		return false
	}
	return slices.ContainsFunc(list, isWatched)
}

// isWatched reports whether a tracker is polled.
func isWatched(cfg tracker.Config) bool { return cfg.Every > 0 || cfg.Auto }

// defaultEvery is how often a tracker is polled if its configuration does not say.
const defaultEvery = time.Minute

// WatchTrackers polls every watched tracker until ctx ends, each at its own interval. Changed receives when the
// configurations changed.
func (o *Service) WatchTrackers(ctx context.Context, changed <-chan struct{}) {
	for ctx.Err() == nil {
		list, err := o.Store.Trackers()
		if err != nil {
			o.logWarning("read the trackers", "error", err)
		}
		round, stop := context.WithCancel(ctx)
		var all sync.WaitGroup
		for _, cfg := range list {
			if isWatched(cfg) {
				all.Go(func() { o.watchTracker(round, cfg) })
			}
		}
		all.Go(func() { o.watchForges(round) })
		select {
		case <-ctx.Done():
		case <-changed:
		}
		stop()
		all.Wait()
	}
}

// forgesEvery is how often pull requests of tasks without a tracker are checked while a server runs.
const forgesEvery = 2 * time.Minute

func (o *Service) watchForges(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(forgesEvery):
		}
		if _, err := o.SyncForges(ctx); err != nil && ctx.Err() == nil {
			o.logWarning("read pull requests", "error", oneLine(err.Error()))
		}
	}
}

func (o *Service) watchTracker(ctx context.Context, cfg tracker.Config) {
	every := cfg.Every
	if every <= 0 {
		every = defaultEvery
	}
	for {
		if cfg.Auto {
			o.Dispatch(ctx, cfg.Name, false) //nolint:errcheck // stored with the tracker, and shown
		} else {
			o.Sync(ctx, cfg.Name, false) //nolint:errcheck // likewise
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(every):
		}
	}
}
