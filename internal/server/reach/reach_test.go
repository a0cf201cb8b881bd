package reach

import (
	"os"
	"strconv"
	"testing"

	"orange/internal/adapter/lock"
	"orange/internal/adapter/shim"
)

func TestAServerIsKnownByItsPIDItsStartAndItsBoot(t *testing.T) {
	self, ok := shim.FindProcess(os.Getpid())
	if !ok {
		t.Fatal("this process is not found")
	}
	for _, tt := range []struct {
		name string
		h    lock.Holder
		want bool
	}{
		{"itself", lock.Holder{PID: self.PID, Mark: processMark(self)}, true},
		{"nothing", lock.Holder{}, false},
		{"the pid alone", lock.Holder{PID: self.PID}, false},
		{"another start", lock.Holder{PID: self.PID, Mark: "1 " + shim.BootID()}, false},
		{"another boot", lock.Holder{PID: self.PID, Mark: strconv.FormatUint(self.Start, 10) + " x"}, false},
		{"another pid", lock.Holder{PID: 1, Mark: processMark(self)}, false}, // a parent may have started in the same hundredth of a second
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, ok := processOf(tt.h); ok != tt.want {
				t.Errorf("got %v", ok)
			}
		})
	}
}
