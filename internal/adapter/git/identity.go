package git

import "context"

// fallbackIdentity is the author of commits if the user has not configured one.
var fallbackIdentity = [...]string{
	"GIT_AUTHOR_NAME=Orange", "GIT_AUTHOR_EMAIL=orange@localhost",
	"GIT_COMMITTER_NAME=Orange", "GIT_COMMITTER_EMAIL=orange@localhost",
}

// identityEnv returns the environment variables that a command needs to create a commit: none
// if git knows the user.
func (g *Git) identityEnv(ctx context.Context, dir string) []string {
	for _, who := range [...]string{"GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"} {
		if _, err := g.run(ctx, dir, "var", who); err != nil {
			return fallbackIdentity[:]
		}
	}
	return nil
}
