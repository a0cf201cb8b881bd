package web

import "sync"

// messageStore holds the results of recent requests until a page shows them. A page refers to a
// message by a random name, so no address contains its text.
type messageStore struct {
	mu   sync.Mutex
	list []storedMessage
}

type storedMessage struct {
	id, text string
	bad      bool
}

const maxStoredMessages = 64

// storeMessage stores a text and returns its name.
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

// findMessage returns the text with a name, or "" if it is no longer stored.
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
