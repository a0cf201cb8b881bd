package track

import (
	"context"

	"orange/internal/core/tracker"
)

// Read reads an issue as it is now.
func (o *Office) Read(ctx context.Context, name, key string) (tracker.Issue, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	d, err := o.open(name)
	if err != nil {
		return tracker.Issue{}, err
	}
	return d.desk.Issue(ctx, key)
}
