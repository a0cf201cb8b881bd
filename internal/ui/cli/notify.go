package cli

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/config"
)

func newNotifyCommand(deps Deps) *cobra.Command {
	return groupCommand("notify", "List and test notification channels", newNotifyList(deps), newNotifyTest(deps))
}

// A notifyChannel is one notification channel of the configuration, as listed.
type notifyChannel struct {
	Number   int       `json:"number"`
	Kind     string    `json:"kind"`
	Host     string    `json:"host,omitempty"`
	On       []string  `json:"on"`
	Projects []string  `json:"projects"`
	Brief    bool      `json:"brief"`
	Told     time.Time `json:"told,omitzero"` // when a notification was last sent successfully
	Tried    time.Time `json:"tried,omitzero"`
	Problem  string    `json:"problem,omitempty"`
}

const noChannels = "No notifications are configured: add notify to config.json, see docs/OPERATIONS.md."

func newNotifyList(deps Deps) *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List the notification channels and the result of their last message", Args: requireArguments(0, 0), Annotations: map[string]string{needsKeys: "notify"},
		Long:    "List the notification channels of config.json: the kinds of items that each one sends, and the result of\nits last message. Of addresses only the host is shown.",
		Example: "  orange notify list",
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		shown, err := config.ReadNotifyResults(deps.Config.NotifyResultsFile())
		if err != nil {
			fmt.Fprintln(deps.Stderr, "orange: warning: "+cleanLine(err.Error()))
		}
		ways := []notifyChannel{}
		for i := range deps.Config.Notify {
			n := &deps.Config.Notify[i]
			of := shown[n.Name()]
			ways = append(ways, notifyChannel{
				Number: i + 1, Kind: n.Kind, Host: notifyHost(n), On: slices.Concat([]string{}, n.On), Projects: slices.Concat([]string{}, n.Projects), Brief: n.Brief,
				Told: of.OK, Tried: of.At, Problem: of.Problem,
			})
		}
		return showResult(cmd, map[string]any{"ways": ways}, func(w io.Writer) error { return printChannels(w, deps, ways) })
	}
	return cmd
}

// notifyHost returns the host that messages are sent to. The rest of an address may be a secret.
func notifyHost(n *config.Notify) string {
	if u, err := url.Parse(n.URL); err == nil && u.Host != "" {
		return u.Host
	}
	if n.Kind == "slack" {
		kind, _, _ := strings.Cut(n.Secret, ":")
		return "(" + kind + ")"
	}
	return ""
}

func printChannels(w io.Writer, deps Deps, ways []notifyChannel) error {
	if len(ways) == 0 {
		_, err := fmt.Fprintln(w, noChannels)
		return err
	}
	rows := [][]string{{"NR", "KIND", "HOST", "SENDS", "PROJECTS", "LAST"}}
	for _, n := range ways {
		on, projects, last := "all but start", "all", "not yet"
		if len(n.On) > 0 {
			on = strings.Join(n.On, ",")
		}
		if len(n.Projects) > 0 {
			projects = strings.Join(n.Projects, ",")
		}
		if n.Brief {
			on += " (brief)"
		}
		switch {
		case n.Problem != "":
			last = formatAge(deps.Now(), n.Tried) + " ago: " + n.Problem
		case !n.Tried.IsZero():
			last = formatAge(deps.Now(), n.Tried) + " ago"
		}
		rows = append(rows, []string{strconv.Itoa(n.Number), n.Kind, orDash(cleanLine(n.Host)), on, cleanLine(projects), cleanLine(last)})
	}
	return printTable(w, deps.lineWidth(), rows)
}

// A notifyResult is the result of a test.
type notifyResult struct {
	Number int    `json:"number"`
	Kind   string `json:"kind"`
	Error  string `json:"error,omitempty"`
}

func newNotifyTest(deps Deps) *cobra.Command {
	cmd := &cobra.Command{
		Use: "test [kind|number]", Short: "Send a test notification: to all channels, to one kind, or to one channel", Args: requireArguments(0, 1), Annotations: map[string]string{needsKeys: "notify"},
		Long: `Send a test by every channel of config.json, by those of a kind (desktop, webhook, ntfy,
slack, bell), or by the one with a number of orange notify list. What arrives says that
it is a test; a webhook has "test": true.

It is sent by this command, not by the server: a secret in a variable that only one of
them has makes a difference.`,
		Example:           "  orange notify test\n  orange notify test slack\n  orange notify test 2",
		ValidArgsFunction: cobra.FixedCompletions([]string{"desktop", "webhook", "ntfy", "slack", "bell"}, cobra.ShellCompDirectiveNoFileComp),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		chosen, err := chooseChannels(deps.Config.Notify, args)
		if err != nil {
			return err
		}
		results, failed := []notifyResult{}, 0
		for _, i := range chosen {
			n := deps.Config.Notify[i]
			r := notifyResult{Number: i + 1, Kind: n.Kind}
			if err := deps.Notify(cmd.Context(), n, testKind(&n)); err != nil {
				r.Error, failed = err.Error(), failed+1
			}
			results = append(results, r)
		}
		err = showResult(cmd, map[string]any{"results": results}, func(w io.Writer) error { return printTested(w, results) })
		if err == nil && failed > 0 {
			err = exitError{code: exitFailed, shown: wantsJSON(cmd), err: fmt.Errorf("%d of %d went wrong", failed, len(results))}
		}
		return err
	}
	return cmd
}

// testKind returns the kind of a test notification: one that this channel sends.
func testKind(n *config.Notify) string {
	if len(n.On) > 0 {
		return n.On[0]
	}
	return "review"
}

// chooseChannels returns the indexes of the channels that the argument names, or of all
// without an argument.
func chooseChannels(ways []config.Notify, args []string) ([]int, error) {
	if len(ways) == 0 {
		return nil, errors.New("no notifications are configured: add notify to config.json, see docs/OPERATIONS.md")
	}
	var out []int
	for i := range ways {
		if len(args) == 0 || args[0] == ways[i].Kind || args[0] == strconv.Itoa(i+1) {
			out = append(out, i)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no way is called %q: see orange notify list", args[0])
	}
	return out, nil
}

func printTested(w io.Writer, results []notifyResult) error {
	for _, r := range results {
		said := "sent"
		if r.Error != "" {
			said = r.Error
		}
		if _, err := fmt.Fprintf(w, "%d %s: %s\n", r.Number, r.Kind, cleanLine(said)); err != nil {
			return err
		}
	}
	return nil
}
