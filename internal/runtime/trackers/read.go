package trackers

import (
	"context"

	"orange/internal/core/tracker"
)

// ReadIssue reads the present issue from its tracker.
func (o *Service) ReadIssue(ctx context.Context, name, key string) (tracker.Issue, error) {
	ctx, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()
	d, err := o.openTracker(name)
	if err != nil {
		return tracker.Issue{}, err
	}
	return d.client.ReadIssue(ctx, key)
}
