package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// An earlier is a program that is upgraded to the release under a living agent.
type earlier struct {
	name  string
	build func(repo, work, dir string) error // puts it into a folder: a release, or the program alone
	// install installs it in a root, where the folder is /previous.
	install string
}

var earliers = []earlier{
	{"this commit under another version", buildOther, "sh /previous/install.sh --from /previous"},
	{"an earlier commit", buildEarlier, "mkdir -p /usr/local/bin; cp /previous/orange /usr/local/bin/orange"},
}

// buildOther builds the release of this commit under another version.
func buildOther(repo, work, dir string) error {
	program, clone := filepath.Join(work, "release-program"), filepath.Join(work, "clone-other")
	if err := runCommand("", nil, "go", "build", "-o", program, "./release"); err != nil {
		return err
	}
	if err := runCommand("", nil, "git", "clone", "--quiet", repo, clone); err != nil {
		return err
	}
	return runCommand(clone, nil, program, "-repo", clone, "-version", "v0.0.0-test.0", "-out", dir, "-targets", "linux/"+runtime.GOARCH)
}

// commitsBack is how many commits the earlier commit is back, without a tag.
const commitsBack = 30

// buildEarlier builds the program of the newest tag before this commit, or of an earlier commit.
func buildEarlier(repo, work, dir string) error {
	commit, err := exec.Command("git", "-C", repo, "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*", "HEAD~1").Output()
	if err != nil {
		commit = fmt.Appendf(nil, "HEAD~%d", commitsBack)
	}
	clone := filepath.Join(work, "clone-earlier")
	if err := runCommand("", nil, "git", "clone", "--quiet", repo, clone); err != nil {
		return err
	}
	if err := runCommand(clone, nil, "git", "checkout", "--quiet", strings.TrimSpace(string(commit))); err != nil {
		return err
	}
	return runCommand(clone, append(os.Environ(), "CGO_ENABLED=0"), "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-X main.version=0.0.0-test.0", "-o", filepath.Join(dir, "orange"), "./cmd/orange")
}

// underAgent upgrades while an agent of the earlier program works, and lets it finish.
const underAgent = `
mkdir /root/shop && cd /root/shop
git init --quiet && echo shop >README && git add README && git commit --quiet -m begin
cat >/root/login.yaml <<'SCRIPT'
worker:
  - section: {name: Plan, text: "APPROACH: a form\nTOUCHING: login.txt"}
  - run: orange task update --status working
  - run: until [ -e /root/upgraded ]; do sleep 0.1; done
  - commit: {file: login.txt, text: "form\n", message: add the form}
  - section: {name: Handoff, text: "DONE: the form"}
  - run: orange task update --status agent-review
  - wait:
reviewer:
  - section: {name: Review, text: "Verdict: PASS"}
  - run: orange task update --status reviewing
SCRIPT
orange version
orange task create login "Let customers log in" --harness script:/root/login.yaml
id=$(orange task list --json | tr '{' '\n' | sed -n 's/.*"id":"\([0-9A-Za-z]\{21\}\)".*/\1/p')
orange task wait "$id" --for working --timeout 120s
case $(orange version --json) in
*'"formats"'*)
	orange upgrade --from /release --dry-run
	orange upgrade --from /release
	;;
*) # it is older than orange upgrade
	sh /release/install.sh --from /release
	orange restart
	;;
esac
orange doctor
echo >/root/upgraded
orange task wait "$id" --for reviewing --timeout 120s
orange task merge "$id"
orange task wait "$id" --for done --timeout 120s
orange task history "$id"
orange task replay "$id"
orange stop
ls -A /usr/local/bin
git log --oneline main
`

// tryUpgrade installs an earlier program in a new root and upgrades it there.
func (e earlier) tryUpgrade(repo, work string, r root) error {
	previous := filepath.Join(work, "previous-"+filepath.Base(r.dir))
	if err := os.MkdirAll(previous, 0o755); err != nil {
		return err
	}
	if err := e.build(repo, work, previous); err != nil {
		return err
	}
	if err := r.fill(); err != nil {
		return fmt.Errorf("make a root: %w", err)
	}
	if err := os.CopyFS(filepath.Join(r.dir, "previous"), os.DirFS(previous)); err != nil {
		return err
	}
	out, err := r.run(e.install + "\n" + underAgent)
	if err != nil {
		return err
	}
	for _, words := range []string{"orange 0.0.0-test.0", "version 0.0.0-test.1, pid", "same record, same decisions", "add the form", "\norange\n"} {
		if !strings.Contains(out, words) {
			return fmt.Errorf("it does not print %q:\n%s", words, out)
		}
	}
	for _, words := range []string{"agent.lost", "agent.crashed", "agent.respawned", "FAIL", ".previous"} {
		if strings.Contains(out, words) {
			return fmt.Errorf("it prints %q:\n%s", words, out)
		}
	}
	fmt.Printf("upgraded under a living agent, from %s: nothing was lost\n", e.name)
	return nil
}
