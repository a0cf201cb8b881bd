package web

import "sync"

// messageStore keep what the last requests came to until their pages are shown, so that no
// words need to be in an address.
type messageStore struct {
	mu   sync.Mutex
	list []storedMessage
}

type storedMessage struct {
	id, text string
	bad      bool
}

const maxStoredMessages = 64

// storeMessage remembers a text, and names it.
func (k *messageStore) storeMessage(text string, bad bool) (id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	id = randomName(9)
	k.list = append(k.list, storedMessage{id, text, bad})
	if len(k.list) > maxStoredMessages {
		k.list = k.list[1:]
	}
	return id
}

// findMessage finds a text by its name, "" if it is forgotten.
func (k *messageStore) findMessage(id string) (text string, bad bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, one := range k.list {
		if one.id == id {
			return one.text, one.bad
		}
	}
	return "", false
}
