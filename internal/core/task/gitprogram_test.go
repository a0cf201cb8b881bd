package task

import "testing"

// What is shown of a credential helper is its program. Its command may hold a password.
func TestCommandsOfCredentialHelpersAreNotShown(t *testing.T) {
	t.Parallel()
	gh := []GitFile{{Path: "/usr/bin/gh"}}
	for _, c := range []struct {
		p    GitProgram
		want string
	}{
		{GitProgram{Kind: GitCredential, Command: "store --file=/x"}, "store"},
		{GitProgram{Kind: GitCredential, Command: "!f() { echo password=hush; }; f"}, "a shell command"},
		{GitProgram{Kind: GitCredential, Command: "!PASS=hush gh auth git-credential", Files: gh}, "/usr/bin/gh"},
		{GitProgram{Kind: GitFilter, Command: "git-lfs clean -- %f"}, "git-lfs clean -- %f"},
	} {
		once, twice := c.p.WithoutSecret(), c.p.WithoutSecret().WithoutSecret()
		if c.p.DisplayCommand() != c.want || once.DisplayCommand() != c.want || !once.SameAs(twice) {
			t.Errorf("%+v is shown as %q, %q", c.p, c.p.DisplayCommand(), once.DisplayCommand())
		}
		if list := UntrustedGitPrograms([]GitProgram{c.p}, []GitProgram{once}); len(list) != 0 {
			t.Errorf("%v is not trusted", list)
		}
		c.p.Command += " "
		if list := UntrustedGitPrograms([]GitProgram{c.p}, []GitProgram{once}); len(list) != 1 {
			t.Errorf("%+v is trusted", c.p)
		}
	}
}
