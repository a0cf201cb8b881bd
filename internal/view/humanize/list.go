package humanize

import (
	"fmt"
	"strings"
)

// FirstFew lists at most most names, and how many others there are.
func FirstFew(list []string, most int) string {
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
}
