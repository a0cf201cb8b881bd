package fakejoan

import "slices"

// AddTag adds a tag to the project, unless one with that name exists.
func (f *Fake) AddTag(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.ContainsFunc(f.tags, func(g *tag) bool { return g.name == name }) {
		f.tags = append(f.tags, &tag{id: f.newID("tag"), name: name})
	}
}
