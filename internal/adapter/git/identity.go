package git

import "context"

// fallbackIdentity is who makes a commit where the user has not said who they are.
var fallbackIdentity = [...]string{
	"GIT_AUTHOR_NAME=Orange", "GIT_AUTHOR_EMAIL=orange@localhost",
	"GIT_COMMITTER_NAME=Orange", "GIT_COMMITTER_EMAIL=orange@localhost",
}

// identityEnv is what a command that makes a commit needs in its environment: nothing if
// git knows the user.
func (g *Git) identityEnv(ctx context.Context, dir string) []string {
	for _, who := range [...]string{"GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"} {
		if _, err := g.run(ctx, dir, "var", who); err != nil {
			return fallbackIdentity[:]
		}
	}
	return nil
}
