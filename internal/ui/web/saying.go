package web

import "sync"

// sayings keep what the last requests came to until their pages are shown, so that no
// words need to be in an address.
type sayings struct {
	mu   sync.Mutex
	list []saying
}

type saying struct {
	id, text string
	bad      bool
}

const maxSayings = 64

// keep remembers a text, and names it.
func (k *sayings) keep(text string, bad bool) (id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	id = randomName(9)
	k.list = append(k.list, saying{id, text, bad})
	if len(k.list) > maxSayings {
		k.list = k.list[1:]
	}
	return id
}

// look finds a text by its name, "" if it is forgotten.
func (k *sayings) look(id string) (text string, bad bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, one := range k.list {
		if one.id == id {
			return one.text, one.bad
		}
	}
	return "", false
}
