package harness

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/agent"
)

var update = flag.Bool("update", false, "write the expected plans")

// launch returns a start with everything that has a place in it.
func launch() Launch {
	return Launch{Launch: agent.Launch{
		Prompt: "Do it: $HOME `x` \"y\"\n\tand 'z'", PromptFile: "/attempt/prompt.md", Session: "11111111-2222-4333-8444-555555555555",
		Workspace: "/work/tree.1", Dir: "/attempt",
	}, Hook: []string{"/opt/my orange", "hook", "x"}, Env: func(string) string { return "" }}
}

func effortOf(h Harness) string {
	if known := h.EffortLevels(); len(known) > 0 {
		return known[len(known)-1]
	}
	return ""
}

func TestPlans(t *testing.T) {
	agents := map[string]Harness{
		"claude": claude{}, "codex": codex{}, "opencode": opencode{}, "gemini": gemini{}, "pi": pi{},
		"command": find(t, "command:agent -p {prompt} --file={prompt_file}"), "script": find(t, "script:/demo/a.yaml"),
	}
	for name, h := range agents {
		for situation, change := range map[string]func(*Launch){
			"headless":    func(*Launch) {},
			"interactive": func(l *Launch) { l.Interactive = true },
			"resume":      func(l *Launch) { l.Resume = "ses_1-a" },
			"interactive-resume": func(l *Launch) {
				l.Interactive, l.Resume = true, "ses_1-a"
			},
			"reviewer": func(l *Launch) { l.ReadOnly = true },
			"effort-model": func(l *Launch) {
				l.Effort, l.Model = effortOf(h), "provider/model-1"
			},
			"no-hooks": func(l *Launch) {
				if name != "script" {
					l.Hook = nil
				}
			},
		} {
			t.Run(name+"/"+situation, func(t *testing.T) {
				l := launch()
				change(&l)
				plan, err := h.PlanLaunch(l)
				if err != nil {
					t.Fatal(err)
				}
				compare(t, filepath.Join("testdata", "plan", name+"-"+situation+".txt"), show(plan))
			})
		}
	}
}

// show writes a plan so that a person can read it.
func show(p Plan) string {
	var out strings.Builder
	for _, a := range p.Argv {
		fmt.Fprintf(&out, "argv %q\n", a)
	}
	for _, e := range p.Env {
		fmt.Fprintf(&out, "env %q\n", e)
	}
	for _, x := range p.Excludes {
		fmt.Fprintf(&out, "exclude %q\n", x)
	}
	for _, f := range p.Files {
		text := f.Text
		if i := bytes.Index(text, []byte("\nimport ")); i > 0 {
			text = append(slices.Clone(text[:i]), "\n(the plugin)"...)
		}
		fmt.Fprintf(&out, "\nfile %q mode %o merge %v\n%s\n", f.Path, f.Mode, f.Merge, text)
	}
	return out.String()
}

func compare(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

func TestRootNeedsLeaveToGoWithoutPermissions(t *testing.T) {
	plan, err := claude{root: true}.PlanLaunch(launch())
	if err != nil || !slices.Contains(plan.Env, "IS_SANDBOX=1") {
		t.Errorf("env %q, %v", plan.Env, err)
	}
}

func TestPlansRefuse(t *testing.T) {
	for _, c := range []struct {
		name, harness, want string
		change              func(*Launch)
	}{
		{"an effort the agent does not have", "claude", `effort "huge" is not one of claude: use low, medium, high, xhigh, max`, func(l *Launch) { l.Effort = "huge" }},
		{"an effort where there is none", "gemini", "gemini takes no effort: leave it empty", func(l *Launch) { l.Effort = "high" }},
		{"nothing to do", "claude", "an agent without a terminal needs a prompt: give one", func(l *Launch) { l.Prompt = "" }},
		{"nothing to do, by its input", "opencode", "opencode without a terminal needs a prompt in a file: give one", func(l *Launch) { l.Prompt = "" }},
		{"a session id that is an option", "codex", `session id "--yolo" is not one: start a new session`, func(l *Launch) { l.Resume = "--yolo" }},
		{"a session id that is a path", "pi", `session id "../x" is not one: start a new session`, func(l *Launch) { l.Resume = "../x" }},
		{"a model that is an option", "pi", `model "--x" is not a name: give one as pi knows it`, func(l *Launch) { l.Model = "--x" }},
		{"a model that steers a terminal", "claude", `model "opus" is not a name: give one as claude knows it`, func(l *Launch) { l.Model = "opus\x1b[2J" }},
		{"a model of two lines", "codex", `model "a b" is not a name: give one as codex knows it`, func(l *Launch) { l.Model = "a\nb" }},
		{"a model of nothing but a space", "gemini", `model "" is not a name: give one as gemini knows it`, func(l *Launch) { l.Model = " " }},
		{"a model that is no text", "opencode", `model "x" is not a name: give one as opencode knows it`, func(l *Launch) { l.Model = "x\xff" }},
		{"a model for a program", "command:x", `model "-x" is not a name: give one as command:x knows it`, func(l *Launch) { l.Model = "-x" }},
		{"a long prompt without a file", "claude", "the prompt cannot be passed as an argument: put it into a file as well", func(l *Launch) {
			l.Prompt, l.PromptFile = strings.Repeat("x", maxArgument+1), ""
		}},
		{"a script nobody named", "script", "harness script: name the file, as script:FILE with its whole path or in ORANGE_SCRIPT", func(*Launch) {}},
		{"broken configuration of the user", "opencode", "OPENCODE_CONFIG_CONTENT is not JSON: fix it or unset it", func(l *Launch) {
			l.Env = func(string) string { return "{" }
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := launch()
			c.change(&l)
			if _, err := find(t, c.harness).PlanLaunch(l); err == nil || err.Error() != c.want {
				t.Errorf("error %v, want %s", err, c.want)
			}
		})
	}
}

func TestEveryAgentGetsItsModel(t *testing.T) {
	const model = "provider/model 1.5:beta[1m]"
	for name, want := range map[string]string{
		"claude": "--model\n" + model, "codex": "--model\n" + model, "opencode": "--model\n" + model,
		"gemini": "--model=" + model, "pi": "--model\n" + model,
	} {
		for _, interactive := range []bool{true, false} {
			for _, resume := range []string{"", "ses_1"} {
				l := launch()
				l.Model, l.Interactive, l.Resume = model, interactive, resume
				plan, err := find(t, name).PlanLaunch(l)
				if err != nil || !strings.Contains("\n"+strings.Join(plan.Argv, "\n")+"\n", "\n"+want+"\n") {
					t.Errorf("%s, terminal %v, resume %q: %q, %v", name, interactive, resume, plan.Argv, err)
				}
				l.Model = ""
				if plan, err = find(t, name).PlanLaunch(l); err != nil || slices.ContainsFunc(plan.Argv, func(a string) bool { return strings.HasPrefix(a, "--model") }) {
					t.Errorf("%s without a model: %q, %v", name, plan.Argv, err)
				}
			}
		}
	}
}

// TestPromptsArriveWhole checks that the plan contains the prompt byte by byte, or an
// instruction to read it.
func TestPromptsArriveWhole(t *testing.T) {
	order := "Read /attempt/prompt.md and follow it."
	long := strings.Repeat("é", maxArgument)
	for _, name := range append(agent.HarnessNames(), "command:agent", "command:agent --prompt={prompt} x") {
		h := find(t, name)
		for _, interactive := range []bool{true, false} {
			for _, prompt := range []string{
				"plain", "-rf", "--help", "-", "@file", "/clear", "!ls", "'quoted'", `"quoted"`, "{prompt_file}", "$(id) `id` \\ %s", "a\nb\tc é 🍊", " x ", long, "nul\x00byte",
			} {
				l := launch()
				l.Prompt, l.Interactive = prompt, interactive
				plan, err := h.PlanLaunch(l)
				if err != nil {
					t.Fatalf("%s: %q: %v", name, cutText(prompt, 40), err)
				}
				if name == "opencode" && !interactive {
					if !slices.Equal(plan.Argv[:4], []string{"sh", "-c", `exec 'opencode' "$@" <"$0"`, l.PromptFile}) {
						t.Errorf("%s: its input is not the prompt: %q", name, plan.Argv)
					}
					continue
				}
				last := plan.Argv[len(plan.Argv)-1]
				if strings.HasPrefix(name, "command:agent --") {
					last = plan.Argv[1]
				}
				for _, option := range []string{"--prompt=", "--prompt-interactive="} {
					last = strings.TrimPrefix(last, option)
				}
				if last != prompt && last != order {
					t.Errorf("%s: prompt %q arrives as %q", name, cutText(prompt, 40), cutText(last, 80))
				}
				if slices.ContainsFunc(plan.Argv, func(a string) bool { return strings.ContainsRune(a, 0) || len(a) > maxArgument+100 }) {
					t.Errorf("%s: an argument that cannot be passed", name)
				}
			}
		}
	}
}

func TestAPromptIsNeverAnOption(t *testing.T) {
	for _, name := range append(agent.HarnessNames(), "command:agent") {
		l := launch()
		l.Prompt, l.Interactive = "--dangerous", true
		plan, err := find(t, name).PlanLaunch(l)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.Index(plan.Argv, "--dangerous")
		if i >= 0 && !slices.Contains(plan.Argv[:i], "--") {
			t.Errorf("%s: %q", name, plan.Argv)
		}
	}
}

func TestAnAgentAtATerminalMayHaveNoPrompt(t *testing.T) {
	for _, name := range append(agent.HarnessNames(), "command:agent") {
		l := launch()
		l.Prompt, l.Interactive = "", true
		plan, err := find(t, name).PlanLaunch(l)
		if err != nil || slices.Contains(plan.Argv, "--") || slices.Contains(plan.Argv, "") || strings.HasPrefix(plan.Argv[len(plan.Argv)-1], "--prompt") {
			t.Errorf("%s: %q, %v", name, plan.Argv, err)
		}
	}
}

func TestOpencodeKeepsTheUsersOwnConfiguration(t *testing.T) {
	l := launch()
	l.Effort = "high"
	l.Env = func(name string) string {
		if name == inlineConfig {
			return `{"plugin":["mine"],"agent":{"build":{"variant":"low"}},"theme":"x"}`
		}
		return ""
	}
	plan, err := opencode{}.PlanLaunch(l)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"mine",`, `"file:///attempt/opencode-plugin.js"`, `"variant": "low"`, `"theme": "x"`} {
		if !strings.Contains(plan.Env[0], want) {
			t.Errorf("no %s in %s", want, plan.Env[0])
		}
	}
}

func TestGeminiLeavesSettingsOfTheRepositoryAlone(t *testing.T) {
	l := launch()
	l.Workspace = t.TempDir()
	path := filepath.Join(l.Workspace, geminiSettings)
	plan := func() Plan {
		p, err := gemini{}.PlanLaunch(l)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if p := plan(); len(p.Files) != 1 || p.Files[0].Path != path || WriteFiles(p.Files) != nil {
		t.Fatalf("no settings for a worktree without any: %+v", p)
	}
	if p := plan(); len(p.Files) != 1 {
		t.Error("our own settings are not kept up to date")
	}
	if err := os.WriteFile(path, []byte(`{"theme":"x"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if p := plan(); len(p.Files) != 0 || len(p.Excludes) != 0 {
		t.Errorf("settings of the repository would be changed: %+v", p.Files)
	}
}

func TestFind(t *testing.T) {
	for _, name := range append(agent.HarnessNames(), "script", "script:/a/b.yaml", `command:a "b c"`) {
		h, err := Find(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if again, err := Find(h.Name()); err != nil || again.Program() != h.Program() {
			t.Errorf("%s is not found again as %q: %v", name, h.Name(), err)
		}
	}
	for name, want := range map[string]string{
		"cursor":       `harness "cursor" is not known: use claude, codex, opencode, gemini, pi, command:PROGRAM or script:FILE`,
		"":             `harness "" is not known: use claude, codex, opencode, gemini, pi, command:PROGRAM or script:FILE`,
		"command:":     `harness "command:": it names no program: write command:PROGRAM, with {prompt} or {prompt_file} where the prompt goes`,
		"command:'a":   `harness "command:'a": a quote is not closed: close it`,
		"script:a.yml": `harness "script:a.yml": give the whole path of the script, such as script:/home/me/demo.yaml`,
		"x\x1b[31m\ny": `harness "x y" is not known: use claude, codex, opencode, gemini, pi, command:PROGRAM or script:FILE`,
	} {
		if _, err := Find(name); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", name, err, want)
		}
	}
}

func TestFirst(t *testing.T) {
	none := errors.New("not there")
	look := func(there ...string) func(string) (string, error) {
		return func(p string) (string, error) {
			if slices.Contains(there, p) {
				return "/bin/" + p, nil
			}
			return "", none
		}
	}
	if name, ok := FirstInstalled(look("pi", "codex")); name != "codex" || !ok {
		t.Errorf("first is %q", name)
	}
	if name, ok := FirstInstalled(look()); ok {
		t.Errorf("first is %q where there is none", name)
	}
}

func TestSkillDirs(t *testing.T) {
	env := map[string]string{}
	dirs := SkillDirs("/home/u", func(n string) string { return env[n] })
	want := map[string]string{
		"claude": "/home/u/.claude/skills", "codex": "/home/u/.codex/skills", "opencode": "/home/u/.config/opencode/skills",
		"gemini": "/home/u/.gemini/skills", "pi": "/home/u/.pi/agent/skills",
	}
	if diff := cmp.Diff(want, dirs); diff != "" {
		t.Error(diff)
	}
	env["CLAUDE_CONFIG_DIR"], env["CODEX_HOME"], env["XDG_CONFIG_HOME"] = "/c", "/x", "relative"
	dirs = SkillDirs("/home/u", func(n string) string { return env[n] })
	if dirs["claude"] != "/c/skills" || dirs["codex"] != "/x/skills" || dirs["opencode"] != "/home/u/.config/opencode/skills" {
		t.Errorf("%v", dirs)
	}
}

func TestPermissionsAndFlagsBecomeOptions(t *testing.T) {
	for _, c := range []struct {
		harness, mode string
		want          []string
		not           string
	}{
		{"claude", "", []string{"--dangerously-skip-permissions"}, "--permission-mode"},
		{"claude", "skip", []string{"--dangerously-skip-permissions"}, "--permission-mode"},
		{"claude", "edits", []string{"--permission-mode", "acceptEdits"}, "--dangerously-skip-permissions"},
		{"claude", "ask", []string{"--permission-mode", "default"}, "--dangerously-skip-permissions"},
		{"codex", "", []string{"--dangerously-bypass-approvals-and-sandbox"}, "--ask-for-approval"},
		{"codex", "edits", []string{"--ask-for-approval", "on-request", "--sandbox", "workspace-write"}, "--dangerously-bypass-approvals-and-sandbox"},
		{"codex", "ask", []string{"--ask-for-approval", "on-request", "--sandbox", "read-only"}, "--dangerously-bypass-approvals-and-sandbox"},
		{"gemini", "", []string{"--yolo"}, "--approval-mode=default"},
		{"gemini", "edits", []string{"--approval-mode=auto_edit"}, "--yolo"},
		{"gemini", "ask", []string{"--approval-mode=default"}, "--yolo"},
		{"opencode", "", []string{"--auto"}, "ask"},
		{"opencode", "ask", []string{"opencode"}, "--auto"},
		{"pi", "", []string{"pi"}, "ask"},
	} {
		h, err := Find(c.harness)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		l := Launch{Launch: agent.Launch{
			Harness: c.harness, Prompt: "Work.", PromptFile: dir + "/prompt.md", Dir: dir, Interactive: true, Permissions: c.mode, Flags: `--one "two three"`,
		}}
		plan, err := h.PlanLaunch(l)
		if err != nil {
			t.Fatal(err)
		}
		line := "\n" + strings.Join(plan.Argv, "\n") + "\n"
		if !strings.Contains(line, "\n"+strings.Join(c.want, "\n")+"\n") || strings.Contains(line, "\n"+c.not+"\n") || !strings.Contains(line, "\n--one\ntwo three\n") {
			t.Errorf("%s with permissions %q: %q", c.harness, c.mode, plan.Argv)
		}
		if l.Interactive = false; l.asks() {
			if _, err := h.PlanLaunch(l); err == nil || !strings.Contains(err.Error(), "nobody can be asked") {
				t.Errorf("%s without a terminal: %v", c.harness, err)
			}
		}
	}
}

func TestTermsThatAHarnessDoesNotHaveAreRefused(t *testing.T) {
	for _, c := range []struct {
		terms agent.Terms
		want  string
	}{
		{agent.Terms{Harness: "pi", Permissions: "ask"}, "pi never asks for permission: use skip"},
		{agent.Terms{Harness: "command:true", Permissions: "ask"}, "command:true never asks for permission: use skip"},
		{agent.Terms{Harness: "claude", Permissions: "plan"}, `permissions "plan" are not a mode of claude: use skip, edits, ask`},
		{agent.Terms{Harness: "claude", Flags: "do this"}, `flags "do this" of claude: give options`},
		{agent.Terms{Harness: "claude", Flags: "--x -- do"}, "and no --"},
		{agent.Terms{Harness: "claude", Flags: `--x "`}, `flags "--x \"" of claude`},
		{agent.Terms{Harness: "command:true", Flags: "--x"}, "command:true takes no flags"},
		{agent.Terms{Harness: "claude", Flags: "--x y", Permissions: "ask"}, ""},
	} {
		h, err := Find(c.terms.Harness)
		if err != nil {
			t.Fatal(err)
		}
		if err := CheckTerms(h, c.terms); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.terms, err)
		}
	}
}

func TestASetPathIsStarted(t *testing.T) {
	for _, name := range agent.HarnessNames() {
		for _, terminal := range []bool{true, false} {
			dir := t.TempDir()
			r := Registry{Programs: func(string) string { return "/opt/the agent" }, Path: func(string) string { return "" }}
			plan, err := r.PlanLaunch(agent.Launch{Harness: name, Prompt: "Work.", PromptFile: dir + "/prompt.md", Dir: dir, Interactive: terminal})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(strings.Join(plan.Argv[:3], " "), "/opt/the agent") {
				t.Errorf("%s, terminal %v: %q", name, terminal, plan.Argv)
			}
		}
	}
}
