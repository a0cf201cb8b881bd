package trackers

import (
	"context"

	"orange/internal/core/tracker"
)

// ReadIssue reads an issue as it is now.
func (o *Service) ReadIssue(ctx context.Context, name, key string) (tracker.Issue, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	d, err := o.openTracker(name)
	if err != nil {
		return tracker.Issue{}, err
	}
	return d.client.ReadIssue(ctx, key)
}
