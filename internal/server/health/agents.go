package health

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"orange/internal/adapter/harness"
	"orange/internal/adapter/shim"
	"orange/internal/adapter/tmux"
	"orange/internal/config"
	"orange/internal/core/agent"
	"orange/internal/host"
	"orange/internal/ui/cli"
	"orange/internal/view/ansi"
)

const (
	probeTime   = 15 * time.Second // from the first output of an agent until its state must be clear
	probeEmpty  = time.Minute      // until an agent must show anything
	probeStill  = 3 * time.Second  // a screen must not change for so long before its state counts
	probeLines  = 8                // lines of a screen to report
	probePause  = 300 * time.Millisecond
	versionTime = 30 * time.Second
	probeEnd    = 15 * time.Second // to end the processes of a probe
)

// agentDoctor starts each agent once, in its own folder and tmux, without a prompt. It types nothing.
type agentDoctor struct {
	cfg     config.Config
	self    string
	scratch string
}

// CheckAgents reports which agents can work here.
func CheckAgents(ctx context.Context, cfg config.Config) (cli.AgentsReport, error) {
	var out cli.AgentsReport
	self, err := os.Executable()
	if err != nil {
		return out, fmt.Errorf("find this program: %w", err)
	}
	scratch, err := os.MkdirTemp("", "orange-agents")
	if err != nil {
		return out, err
	}
	defer os.RemoveAll(scratch) //nolint:errcheck // a temporary folder
	d := agentDoctor{cfg: cfg, self: self, scratch: scratch}
	names := agent.HarnessNames()
	out.Agents = make([]cli.AgentCheck, len(names))
	turns := make(chan struct{}, max(2, runtime.NumCPU())) // a probe mostly waits, but more than that would start slowly
	var running sync.WaitGroup
	for i, name := range names {
		running.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			out.Agents[i] = d.checkAgent(ctx, name)
		})
	}
	running.Wait()
	out.Identity = d.commitIdentity(ctx)
	return out, ctx.Err()
}

// agentEnv returns the environment that an agent would inherit from a server started here.
func (d *agentDoctor) agentEnv(name string) []string {
	return config.AgentEnv(config.ServerEnv(config.Environ(), d.cfg.AgentEnv...), name, d.cfg.AgentEnv...)
}

func (d *agentDoctor) checkAgent(ctx context.Context, name string) cli.AgentCheck {
	known, _ := agent.FindHarness(name)
	out := cli.AgentCheck{Name: name, Tried: known.Tried, State: "missing"}
	h, err := harness.Find(name)
	if err == nil {
		out.Path, err = d.cfg.FindProgram(h.Program())
	}
	if err != nil {
		out.Path = ""
		return out
	}
	out.Version = d.readVersion(ctx, name, out.Path)
	state, shows, err := d.probeAgent(ctx, h)
	if err != nil {
		out.State, out.Fix = string(harness.Unclear), err.Error()
		return out
	}
	out.State, out.OK = state, state == string(harness.Ready)
	switch state {
	case string(harness.Ready):
		return out
	case string(harness.NoLogin):
		out.Fix = "run " + h.Program() + " and log in, or set the key that it needs, and run orange again"
	case "ended":
		out.Fix = "run " + h.Program() + " and fix the error that it shows"
	default:
		out.Fix = "run " + h.Program() + " once and answer its questions"
	}
	out.Shows = shows
	return out
}

// readVersion returns the version that an agent prints, or "" if it prints none.
func (d *agentDoctor) readVersion(ctx context.Context, name, path string) string {
	ctx, cancel := context.WithTimeout(ctx, versionTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Env, cmd.Dir = d.agentEnv(name), d.scratch
	said, err := cmd.CombinedOutput()
	if err != nil {
		return ""
	}
	for word := range strings.FieldsSeq(string(said)) {
		if word = strings.TrimPrefix(word, "v"); word[0] >= '0' && word[0] <= '9' && strings.Contains(word, ".") {
			return ansi.OneLine(word)
		}
	}
	return ansi.OneLine(string(said))
}

// probeAgent runs an agent without a prompt until its screen no longer changes, and ends all its processes.
func (d *agentDoctor) probeAgent(ctx context.Context, h harness.Harness) (state, shows string, err error) {
	dir, work := filepath.Join(d.scratch, h.Name()), filepath.Join(d.scratch, h.Name(), "work")
	if err := os.MkdirAll(work, 0o700); err != nil {
		return "", "", err
	}
	plan, err := harness.Registry{Env: config.Getenv}.PlanLaunch(agent.Launch{Harness: h.Name(), Interactive: true, Workspace: work, Dir: dir})
	if err != nil {
		return "", "", err
	}
	mark := "doctor/" + rand.Text()
	env := append(append(d.agentEnv(h.Name()), plan.Env...), shim.KeyVariable+"="+mark)
	term := tmux.New(filepath.Join(dir, "t"), env)
	defer d.endProbe(term, mark)
	w := tmux.Window{Session: "doctor", Name: "agent", Dir: work, Argv: plan.Argv, Log: filepath.Join(dir, "output.log"), Recorder: []string{d.self, host.OutputCommand}, Width: ansi.TerminalWidth, Height: ansi.TerminalHeight}
	if err := term.OpenWindow(ctx, w); err != nil {
		return "", "", err
	}
	return d.watchScreen(ctx, h, term, w)
}

// watchScreen reads the screen until it shows the state of the agent, or until the time is up.
func (d *agentDoctor) watchScreen(ctx context.Context, h harness.Harness, term *tmux.Server, w tmux.Window) (state, shows string, err error) {
	var seen ansi.View
	since := time.Now()
	for end := time.Now().Add(probeEmpty); time.Now().Before(end); {
		select {
		case <-ctx.Done():
			return "", "", ctx.Err()
		case <-time.After(probePause):
		}
		now, err := term.ReadView(ctx, w.Session, w.Name)
		if errors.Is(err, tmux.ErrGone) {
			return "ended", d.maskedScreen(h, d.printedText(w.Log)), nil
		}
		if err != nil {
			return "", "", err
		}
		if now != seen {
			if len(ansi.LastLines(seen.Text, 1)) == 0 && len(ansi.LastLines(now.Text, 1)) > 0 {
				end = time.Now().Add(probeTime)
			}
			seen, since = now, time.Now()
			continue
		}
		if state := harness.ReadyOn(h, seen); state != harness.Unclear && time.Since(since) >= probeStill {
			return string(state), d.maskedScreen(h, seen.Text), nil
		}
	}
	return string(harness.ReadyOn(h, seen)), d.maskedScreen(h, seen.Text), nil
}

// printedText returns what the terminal of a program showed when the program ended.
func (d *agentDoctor) printedText(log string) string {
	text, _, err := host.ReadOutputEnd(log)
	if err != nil {
		return ""
	}
	t := ansi.NewTerminal(ansi.TerminalWidth, ansi.TerminalHeight)
	t.Write(text) //nolint:errcheck // it never fails
	return strings.Join(t.Lines(), "\n")
}

func (d *agentDoctor) maskedScreen(h harness.Harness, pane string) string {
	return host.MaskSecrets(d.agentEnv(h.Name()), strings.Join(strings.Fields(strings.Join(ansi.LastLines(pane, probeLines), " ")), " "))
}

// endProbe ends the terminal and every process that carries the mark.
func (d *agentDoctor) endProbe(term *tmux.Server, mark string) {
	ctx, cancel := context.WithTimeout(context.Background(), probeEnd)
	defer cancel()
	err := term.KillServer(ctx)
	supervisor := shim.New([]string{d.self, host.ShimCommand}, shim.DataFolder{})
	defer supervisor.Close()
	if err := errors.Join(err, supervisor.EndKeyCarriers(ctx, mark)); err != nil {
		fmt.Fprintln(os.Stderr, "orange: end the agent that was started:", err)
	}
}

// commitIdentity returns the name and email with which agents commit, or "" if git has none.
func (d *agentDoctor) commitIdentity(ctx context.Context) string {
	var parts []string
	for _, key := range []string{"user.name", "user.email"} {
		cmd := exec.CommandContext(ctx, "git", "config", key)
		cmd.Env, cmd.Dir = d.agentEnv(""), d.scratch
		out, err := cmd.Output()
		if err != nil || strings.TrimSpace(string(out)) == "" {
			return ""
		}
		parts = append(parts, ansi.OneLine(string(out)))
	}
	return parts[0] + " <" + parts[1] + ">"
}
