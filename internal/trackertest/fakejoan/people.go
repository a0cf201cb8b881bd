package fakejoan

import "slices"

// AddTag makes a tag of the project, if there is none of that name.
func (f *Fake) AddTag(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.ContainsFunc(f.tags, func(g *tag) bool { return g.name == name }) {
		f.tags = append(f.tags, &tag{id: f.newID("tag"), name: name})
	}
}
