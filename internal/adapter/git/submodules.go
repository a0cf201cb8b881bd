package git

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// InitSubmodules checks out the submodules of the worktree at dir that are not checked out, from where .gitmodules says.
// admin is the administrative folder of the worktree. Git has the credentials of a fetch, clones over the protocols that it
// allows for submodules (no local folder, unless the user's configuration allows it), and runs no hook of a template.
// A submodule whose repository was left by an earlier task is not touched, because that task may have changed its
// configuration: InitSubmodules returns its path.
func (g *Git) InitSubmodules(ctx context.Context, dir, admin string) (left []string, err error) {
	known, err := g.readIndex(ctx, dir)
	if err != nil || len(known.absent) == 0 {
		return nil, err
	}
	modules, err := g.listModules(ctx, admin, dir, "")
	if err != nil {
		return nil, err
	}
	var wanted []string
	for _, name := range known.absent {
		if slices.ContainsFunc(modules, func(m module) bool { return m.path == name }) {
			left = append(left, name)
			continue
		}
		wanted = append(wanted, name)
	}
	if len(wanted) == 0 {
		return left, nil
	}
	args := append([]string{"submodule", "--quiet", "update", "--init", "--checkout", "--recursive", "--"}, wanted...)
	if _, err := g.runCall(ctx, call{dir: dir, config: []string{"init.templateDir="}, args: args, timeout: checkoutTimeout, network: true}); err != nil {
		return left, fmt.Errorf("check out the submodules %s of %s: %w", makePrintable(strings.Join(wanted, ", ")), dir, err)
	}
	return left, nil
}
