package keyedmutex

import (
	"sync"
	"testing"
)

func TestOneHolderForEachKey(t *testing.T) {
	var m Mutex[string]
	counts := map[string]*int{"a": new(int), "b": new(int)}
	var wait sync.WaitGroup
	for key, n := range counts {
		for range 50 {
			wait.Go(func() {
				defer m.Lock(key)()
				*n++
			})
		}
	}
	wait.Wait()
	if *counts["a"] != 50 || *counts["b"] != 50 {
		t.Errorf("%d and %d, want 50 each", *counts["a"], *counts["b"])
	}
	if len(m.held) != 0 {
		t.Errorf("%d keys are kept that nobody holds", len(m.held))
	}
}

func TestKeysDoNotWaitForEachOther(t *testing.T) {
	var m Mutex[int]
	defer m.Lock(1)()
	m.Lock(2)() // would never return
}
