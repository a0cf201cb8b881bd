package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// maxLinks is the number of links after which a path counts as a circle. Kernels allow fewer.
const maxLinks = 64

// FollowLinks returns the path of the file that path leads to through symbolic links. The file
// need not exist, but its folder must.
func FollowLinks(path string) (string, error) {
	at := path
	for range maxLinks {
		folder, name := filepath.Split(at) // not cleaned: "a/.." is not "." if a is a link
		if folder == "" {
			folder = "."
		}
		folder, err := filepath.EvalSymlinks(folder)
		if err != nil {
			return "", err
		}
		at = filepath.Join(folder, name)
		to, err := os.Readlink(at)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.EINVAL): // it is no link
			return at, nil
		case err != nil:
			return "", err
		case filepath.IsAbs(to):
			at = to
		default:
			at = folder + string(filepath.Separator) + to
		}
	}
	return "", fmt.Errorf("follow the links of %s: there are more than %d", path, maxLinks)
}
