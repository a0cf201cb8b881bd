package harness

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A reviewer may read a forge and may not publish. These guards are advice to an honest agent:
// what a determined one can do depends on the credentials that it finds.

// refusal is the message for a reviewer that tries to publish.
const refusal = "a reviewer does not push or post: write the verdict into TASK.md"

// forgeReads returns the commands of gh that change nothing at the forge. The wrapper of
// GuardReviewer refuses everything else, including aliases, extensions and commands of later
// versions. It decides about gh api by the arguments.
func forgeReads() []string {
	return strings.Fields(`
alias_list attestation_download attestation_trusted-root attestation_verify auth_git-credential auth_status cache_list
agent-task_list agent-task_view codespace_list codespace_logs codespace_view completion config_get config_list
extension_list extension_search gist_clone gist_list gist_view gpg-key_list help issue_list issue_status issue_view
label_list licenses org_list pr_checkout pr_checks pr_diff pr_list pr_status pr_view project_field-list project_item-list
project_list project_view release_download release_list release_verify release_verify-asset release_view reference
repo_autolink_list repo_autolink_view repo_clone repo_deploy-key_list repo_gitignore_list repo_gitignore_view
repo_license_list repo_license_view repo_list repo_view ruleset_check ruleset_list ruleset_view run_download run_list
run_view run_watch search_code search_commits search_issues search_prs search_repos secret_list ssh-key_list status
variable_get variable_list version workflow_list workflow_view`)
}

// forgeWrites returns the commands of gh that a reviewer does not need: they change a forge,
// the settings of gh, or another machine, or they reveal its credentials.
func forgeWrites() []string {
	return strings.Fields(`
agent-task_create alias_delete alias_import alias_set auth_login auth_logout auth_refresh auth_setup-git auth_switch
auth_token browse cache_delete codespace_code codespace_cp codespace_create codespace_delete codespace_edit
codespace_jupyter codespace_ports codespace_rebuild codespace_ssh codespace_stop config_clear-cache config_set
extension_browse extension_create extension_exec extension_install extension_remove extension_upgrade gist_create
gist_delete gist_edit gist_rename gpg-key_add gpg-key_delete issue_close issue_comment issue_create issue_delete
issue_develop issue_edit issue_lock issue_pin issue_reopen issue_transfer issue_unlock issue_unpin label_clone
label_create label_delete label_edit pr_close pr_comment pr_create pr_edit pr_lock pr_merge pr_ready pr_reopen
pr_revert pr_review pr_unlock pr_update-branch preview project_close project_copy project_create project_delete
project_edit project_field-create project_field-delete project_item-add project_item-archive project_item-create
project_item-delete project_item-edit project_link project_mark-template project_unlink release_create
release_delete release_delete-asset release_edit release_upload repo_archive repo_autolink_create
repo_autolink_delete repo_create repo_delete repo_deploy-key_add repo_deploy-key_delete repo_edit repo_fork
repo_rename repo_set-default repo_sync repo_unarchive run_cancel run_delete run_rerun secret_delete secret_set
ssh-key_add ssh-key_delete variable_delete variable_set workflow_disable workflow_enable workflow_run`)
}

// publishingCommands returns the commands that send work to another machine or write to a
// forge, for agents that accept rules about commands.
func publishingCommands() []string {
	out := []string{"git push", "git send-pack", "git http-push", "gh review"}
	for _, command := range forgeWrites() {
		out = append(out, "gh "+strings.ReplaceAll(command, "_", " "))
	}
	return out
}

// hookNames returns the hooks of git that can run in a worktree. The core.hooksPath of
// GuardReviewer replaces the repository's hooks, so it must forward all of them.
func hookNames() []string {
	return []string{
		"applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit", "prepare-commit-msg", "commit-msg", "post-commit",
		"pre-rebase", "post-checkout", "post-merge", "reference-transaction", "pre-auto-gc", "post-rewrite", "sendemail-validate", "post-index-change",
		"p4-changelist", "p4-prepare-changelist", "p4-post-changelist", "p4-pre-submit",
	}
}

// passHook runs the hook of the same name in the repository's own hooks folder.
const passHook = `#!/bin/sh
# Runs the repository's own hook: this folder stands before its own for the sake of pre-push.
own=$(env -u GIT_CONFIG_COUNT git rev-parse --git-path hooks) || exit 0
[ -x "$own/${0##*/}" ] || exit 0
exec "$own/${0##*/}" "$@"
`

// GuardReviewer stops the processes of a reviewer from publishing: git refuses every push, and
// gh refuses everything except reading, whatever program calls them. dir is the attempt's
// folder, path the PATH of its agent. It returns variables to add and files to write.
//
// In git, pushInsteadOf refuses pushes to an address, or to a remote by its url; the hook
// refuses pushes to a pushurl, which no rewriting reaches. Because --no-verify skips the hook,
// every push must also be signed, with a key that does not exist: forges do not accept signed
// pushes, and where one does, signing fails.
func GuardReviewer(dir, path string) (env []string, files []File) {
	bin, hooks := filepath.Join(dir, "bin"), filepath.Join(dir, "git-hooks")
	for _, name := range hookNames() {
		files = append(files, File{Path: filepath.Join(hooks, name), Text: []byte(passHook), Mode: 0o700})
	}
	files = append(files,
		File{Path: filepath.Join(hooks, "pre-push"), Text: []byte("#!/bin/sh\necho " + shellWord(refusal) + " >&2\nexit 1\n"), Mode: 0o700},
		File{Path: filepath.Join(bin, "gh"), Text: forgeWrapper(bin), Mode: 0o700})
	settings := [][2]string{
		{"url.reviewers-do-not-push::.pushInsteadOf", ""}, // a prefix of every address
		{"core.hooksPath", hooks},
		{"push.gpgSign", "true"}, {"user.signingKey", "reviewers-do-not-push"}, {"commit.gpgSign", "false"}, {"tag.gpgSign", "false"},
	}
	env = []string{"GIT_CONFIG_COUNT=" + strconv.Itoa(len(settings))}
	for i, s := range settings {
		n := strconv.Itoa(i)
		env = append(env, "GIT_CONFIG_KEY_"+n+"="+s[0], "GIT_CONFIG_VALUE_"+n+"="+s[1])
	}
	return append(env, "PATH="+strings.TrimSuffix(bin+string(filepath.ListSeparator)+path, string(filepath.ListSeparator))), files
}

// forgeWrapper returns a gh that forwards commands that read and refuses the rest. The words
// that name the command come first; the only flag allowed before them is the one that names a
// repository.
func forgeWrapper(bin string) []byte {
	var groups, commands []string
	for _, command := range forgeReads() {
		words := strings.Split(command, "_")
		for i := 1; i < len(words); i++ {
			if g := shellWord(strings.Join(words[:i], " ")); !slices.Contains(groups, g) {
				groups = append(groups, g)
			}
		}
		commands = append(commands, shellWord(strings.Join(words, " ")))
	}
	return []byte(strings.NewReplacer("BIN", shellWord(bin), "REFUSAL", shellWord("gh: "+refusal), "GROUPS", strings.Join(groups, "|"), "READS", strings.Join(commands, "|")).Replace(`#!/bin/sh
# Passes on what reads a forge, and refuses everything else that gh can do.
run() {
	IFS=:
	for dir in $PATH; do
		if [ "$dir" != BIN ] && [ -x "$dir/gh" ]; then
			unset IFS
			exec "$dir/gh" "$@"
		fi
	done
	echo "gh is not installed" >&2
	exit 127
}

refuse() {
	echo REFUSAL >&2
	exit 1
}

# What gh api may be asked for: GET of one address, with nothing to send.
get() {
	address=
	value=
	for arg; do
		case $value in
		method) [ "$arg" = GET ] || refuse ;;
		header) case $arg in Accept:* | accept:* | X-GitHub-Api-Version:*) ;; *) refuse ;; esac ;;
		esac
		if [ -n "$value" ]; then
			value=
			continue
		fi
		case $arg in
		-X | --method) value=method ;;
		-H | --header) value=header ;;
		--method=GET | --paginate | --slurp | --include | -i | --silent | --verbose | --jq=* | --template=* | --cache=* | --hostname=*) ;;
		--jq | -q | --template | -t | --cache | --hostname) value=other ;;
		-* | graphql | */graphql) refuse ;;
		*) [ -z "$address" ] || refuse; address=$arg ;;
		esac
	done
	[ -z "$value" ] || refuse
}

# gh COMMAND --help is for everybody.
for last; do :; done
case $#$last in
0 | [123]--help | 1--version) run "$@" ;;
esac

words=
skip=
for arg; do
	if [ -n "$skip" ]; then
		skip=
		continue
	fi
	case $arg in
	-R | --repo) skip=1; continue ;;
	-R?* | --repo=*) continue ;;
	*[!a-z0-9-]* | -* | '') refuse ;;
	esac
	words="${words:+$words }$arg"
	case $words in
	api)
		[ "$1" = api ] || refuse
		shift
		get "$@"
		run api "$@" ;;
	READS) run "$@" ;;
	GROUPS) ;;
	*) refuse ;;
	esac
done
case $words in GROUPS) run "$@" ;; esac # prints its help
refuse
`))
}
