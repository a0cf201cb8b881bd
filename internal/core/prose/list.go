package prose

import (
	"fmt"
	"strings"
)

// FirstFew names the first of many things.
func FirstFew(list []string) string {
	const most = 5
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
}
