package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
)

// Formats are the versions of what a program stores. A program reads what was stored with lower
// numbers than its own.
type Formats struct {
	Store   int `json:"store"`   // the schema of the store
	Rules   int `json:"rules"`   // the rules of decisions in the journal
	Entries int `json:"entries"` // how many types of journal entries it knows
}

// A programVersion is what orange version --json prints.
type programVersion struct {
	API      int     `json:"api"`
	Commit   string  `json:"commit,omitempty"`
	Formats  Formats `json:"formats"`
	Go       string  `json:"go"`
	Platform string  `json:"platform"`
	Version  string  `json:"version"`
}

// An Upgrader replaces the installed program, and looks after the store while no server does.
type Upgrader interface {
	// OpenRelease verifies a release and prepares its program.
	OpenRelease(ctx context.Context, from string) (Replacement, error)
	// StoreSchema returns the schema of the store, 0 if there is none.
	StoreSchema() (int, error)
	// KeepStore copies the store. No server may run.
	KeepStore() (KeptStore, error)
}

// A Replacement is a program that is ready to take the place of the installed one.
type Replacement struct {
	File     string // where it was read from
	Verified bool   // its sum was in SHA256SUMS
	Program  string // the installed program
	Same     bool   // the installed program is the same
	Replacing
}

// Replacing are the steps of a replacement.
type Replacing interface {
	AskVersion(ctx context.Context) ([]byte, error) // what it prints for version --json
	Replace() error
	Undo() error
	Finish() error // removes the old program
	Discard()
}

// A KeptStore is a copy of the store.
type KeptStore interface {
	PutBack() error
	Drop() error
}

// An upgradeResult is the result of an upgrade.
type upgradeResult struct {
	Program  string `json:"program"`
	File     string `json:"file"`
	From     string `json:"from"`
	To       string `json:"to"`
	Verified bool   `json:"verified"`
	PID      int    `json:"pid,omitempty"` // of the new server
	Changed  bool   `json:"changed"`
	dry      bool
}

func newUpgradeCommand(deps Deps) *cobra.Command {
	var from string
	var dry bool
	cmd := &cobra.Command{
		Use: "upgrade --from FILE|FOLDER", Short: "Install another release and restart the server; agents keep running", Args: requireArguments(0, 0),
		Long: "Replace this program by that of a release: an archive, a folder that holds the archive for this\n" +
			"machine or the program, or the program itself. If SHA256SUMS is beside the file, its sum must match.\n" +
			"Then the server is restarted, and agents continue: their hooks and commands use the new program.\n\n" +
			"The old program is kept until the new server has answered. If it does not answer, or does not accept\n" +
			"the store, the old program is put back and its server is started. A program that cannot read the\n" +
			"store, because a newer one wrote it, is refused.\n\n" +
			"A program that belongs to a package (dpkg, rpm, Homebrew) is upgraded with that package; run orange\n" +
			"restart after that.",
		Example: "  orange upgrade --from orange_0.2.0_linux_amd64.tar.gz --dry-run\n" +
			"  orange upgrade --from ./release",
	}
	cmd.Flags().StringVar(&from, "from", "", "archive, folder or program of the release")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "verify everything and only say what would be done")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := deps.personOnly(); err != nil {
			return err
		}
		if from == "" {
			return usageError("say which release: --from FILE or FOLDER")
		}
		done, err := upgradeProgram(cmd.Context(), deps, from, dry)
		if err != nil {
			return err
		}
		return showResult(cmd, done, func(w io.Writer) error { return printUpgrade(w, done) })
	}
	return cmd
}

func printUpgrade(w io.Writer, r upgradeResult) error {
	var text string
	switch {
	case r.dry && r.Changed:
		text = fmt.Sprintf("Would replace %s, version %s, by version %s of %s, and restart the server. Agents would continue.", r.Program, r.From, r.To, r.File)
	case !r.Changed:
		text = fmt.Sprintf("%s is version %s already: nothing was changed.", r.Program, r.To)
	default:
		text = fmt.Sprintf("Upgraded %s from %s to %s. The server was restarted (pid %d); agents continue.", r.Program, r.From, r.To, r.PID)
	}
	if r.Changed && !r.Verified {
		text += "\nIts sum was not verified: there is no SHA256SUMS beside " + r.File + "."
	}
	_, err := fmt.Fprintln(w, text)
	return err
}

// upgradeProgram replaces the program and restarts the server with it.
func upgradeProgram(ctx context.Context, deps Deps, from string, dry bool) (upgradeResult, error) {
	r, err := deps.Upgrader.OpenRelease(ctx, from)
	if err != nil {
		return upgradeResult{}, err
	}
	defer r.Discard()
	next, err := readVersion(ctx, r)
	if err != nil {
		return upgradeResult{}, err
	}
	out := upgradeResult{Program: r.Program, File: r.File, From: deps.Version, To: next.Version, Verified: r.Verified, Changed: !r.Same, dry: dry}
	schema, err := deps.Upgrader.StoreSchema()
	if err == nil {
		err = requireFormats(deps, next, schema)
	}
	if err != nil || dry || r.Same {
		return out, err
	}
	if err := r.Replace(); err != nil {
		return out, err
	}
	out.PID, err = startReplacement(context.WithoutCancel(ctx), deps, r, next, schema)
	return out, err
}

// readVersion asks the new program for its version, and checks that it is for this machine.
func readVersion(ctx context.Context, r Replacement) (programVersion, error) {
	var v programVersion
	text, err := r.AskVersion(ctx)
	if err != nil {
		return v, err
	}
	here := runtime.GOOS + "/" + runtime.GOARCH
	switch err := json.Unmarshal(text, &v); {
	case err != nil || v.Version == "":
		return v, fmt.Errorf("%s is not Orange: it does not print its version", r.File)
	case v.Platform != here:
		return v, fmt.Errorf("%s is a program for %s, and this machine is %s", r.File, cleanLine(v.Platform), here)
	case v.Formats.Store == 0:
		return v, fmt.Errorf("version %s does not say which store it reads, because it is older than orange upgrade: copy the data folder, then install it with its install.sh", cleanLine(v.Version))
	}
	return v, nil
}

// requireFormats returns an error if a program cannot read what is stored in the data folder.
func requireFormats(deps Deps, next programVersion, schema int) error {
	const back = "a store is only upgraded forward; to go back, put back a copy of the data folder from before the upgrade, and install version %s with its install.sh"
	was, now := deps.Formats, next.Formats
	switch {
	case now.Store < schema:
		return fmt.Errorf("version %s reads stores up to schema %d, and that in %s has schema %d: "+back, next.Version, now.Store, deps.Config.Home, schema, next.Version)
	case schema > 0 && now.Rules < was.Rules:
		return fmt.Errorf("version %s decides by rules %d, and the journal has entries by rules %d: "+back, next.Version, now.Rules, was.Rules, next.Version)
	case schema > 0 && now.Entries < was.Entries:
		return fmt.Errorf("version %s knows %d types of journal entries, and this one %d: "+back, next.Version, now.Entries, was.Entries, next.Version)
	}
	return nil
}

// startReplacement restarts the server with the new program, which is in place, and returns the pid of the server. If
// that fails, it puts the old program back and restarts the server with that.
func startReplacement(ctx context.Context, deps Deps, r Replacement, next programVersion, schema int) (int, error) {
	kept, err := stopAndKeep(ctx, deps, schema > 0 && schema < next.Formats.Store)
	var started restartResult
	if err == nil {
		started, err = restartWith(ctx, r.Program)
	}
	if err == nil && started.Version != next.Version {
		err = fmt.Errorf("a server of version %s answers", started.Version)
	}
	if err == nil {
		return started.PID, errors.Join(kept.Drop(), r.Finish())
	}
	if _, stopErr := stopServer(ctx, deps); stopErr != nil {
		err = errors.Join(err, stopErr)
	}
	if putErr := kept.PutBack(); putErr != nil {
		return 0, fmt.Errorf("start the server of version %s: %w; version %s stays in place: %w", next.Version, err, next.Version, putErr)
	}
	if undoErr := r.Undo(); undoErr != nil {
		return 0, errors.Join(err, undoErr)
	}
	again, againErr := restartWith(ctx, r.Program)
	if againErr != nil {
		return 0, fmt.Errorf("start the server of version %s: %w; version %s is back in place, and its server does not start: %w", next.Version, err, deps.Version, againErr)
	}
	return 0, fmt.Errorf("start the server of version %s: %w; version %s is back in place, and its server answers (pid %d)", next.Version, err, deps.Version, again.PID)
}

// stopAndKeep stops the server and copies the store if the new program is going to upgrade it.
func stopAndKeep(ctx context.Context, deps Deps, keep bool) (KeptStore, error) {
	for try := 0; ; try++ {
		if _, err := stopServer(ctx, deps); err != nil || !keep {
			return nothingKept{}, err
		}
		kept, err := deps.Upgrader.KeepStore()
		_, busy := errors.AsType[ServerRunningError](err) // a command of an agent started one meanwhile
		switch {
		case err == nil:
			return kept, nil
		case !busy || try == 3:
			return nothingKept{}, err
		}
	}
}

// nothingKept stands for a copy of a store that was not necessary.
type nothingKept struct{}

func (nothingKept) PutBack() error { return nil }
func (nothingKept) Drop() error    { return nil }

// restartWith lets a program restart the server, as its own version does it.
func restartWith(ctx context.Context, program string) (restartResult, error) {
	var out restartResult
	cmd := exec.CommandContext(ctx, program, "restart", "--json")
	var said bytes.Buffer
	cmd.Stderr = &said
	text, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if line := strings.TrimPrefix(cleanLine(strings.TrimSpace(said.String())), "orange: restart: "); err != nil && line != "" {
		err = errors.New(line)
	}
	return out, err
}
