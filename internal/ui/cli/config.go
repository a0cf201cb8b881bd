package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// shownConfig is what orange config prints.
type shownConfig struct {
	File     string         `json:"file"`
	Exists   bool           `json:"exists"`
	Home     string         `json:"home"`
	Socket   string         `json:"socket"`
	Flows    string         `json:"workflows"` // folder of the user's workflows
	Settings map[string]any `json:"settings"`  // of the file, without secrets
}

func newConfigCommand(deps Deps) *cobra.Command {
	return &cobra.Command{
		Use: "config", Short: "Print the paths and the contents of the configuration", Args: requireArguments(0, 0),
		Annotations: map[string]string{needsNothing: "yes"},
		Long: "Print the path of config.json, the folders that Orange uses, and the settings of the file. Secrets and\n" +
			"the paths of addresses are left out. docs/OPERATIONS.md describes the settings.",
		Example: "  orange config\n" +
			"  orange config --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			c := shownConfig{File: filepath.Join(deps.Config.ConfigDir, "config.json"), Home: deps.Config.Home, Socket: deps.Config.Socket, Flows: deps.Config.UserWorkflows, Settings: map[string]any{}}
			text, err := os.ReadFile(c.File)
			switch c.Exists = err == nil; {
			case errors.Is(err, fs.ErrNotExist):
			case err != nil:
				return fmt.Errorf("read the configuration: %w", err)
			default:
				if json.Unmarshal(text, &c.Settings) != nil {
					return fmt.Errorf("%s is not JSON: correct it, or remove it", c.File)
				}
			}
			hideSecrets(c.Settings)
			if err := showResult(cmd, c, func(w io.Writer) error { return printConfig(w, c) }); err != nil {
				return err
			}
			return deps.ConfigErr
		},
	}
}

func printConfig(w io.Writer, c shownConfig) error {
	note := ""
	if !c.Exists {
		note = " (does not exist; the defaults count)"
	}
	fmt.Fprintf(w, "File       %s%s\nData       %s\nSocket     %s\nWorkflows  %s\n", cleanLine(c.File), note, cleanLine(c.Home), cleanLine(c.Socket), cleanLine(c.Flows))
	names := make([]string, 0, len(c.Settings))
	for name := range c.Settings {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		if i == 0 {
			fmt.Fprintln(w)
		}
		value, err := json.Marshal(c.Settings[name])
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s = %s\n", cleanLine(name), cleanLine(string(value)))
	}
	return nil
}

// hidden replaces a value that may be a secret.
const hidden = "(hidden)"

// hideSecrets replaces, at every depth, values that may be secrets. A value that only says where a secret is stays.
func hideSecrets(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			if text, ok := value.(string); ok {
				v[name] = hideSecret(strings.ToLower(name), text)
				continue
			}
			v[name] = hideSecrets(value)
		}
	case []any:
		for i := range v {
			v[i] = hideSecrets(v[i])
		}
	}
	return v
}

func hideSecret(name, text string) string {
	for _, place := range []string{"env:", "file:", "command:"} {
		if strings.HasPrefix(text, place) {
			return text
		}
	}
	u, err := url.Parse(text)
	switch {
	case err == nil && u.Scheme != "" && u.Host != "": // its path, its query and its user may be secrets
		return u.Scheme + "://" + u.Host + "/..."
	case text != "" && text != "gh" && slices.ContainsFunc([]string{"secret", "token", "password", "key"}, func(s string) bool { return strings.Contains(name, s) }):
		return hidden
	}
	return text
}
