package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/view/ansi"
)

// view reads a recorded screen: its first line contains the position of the cursor and the size
// of the window, the rest is the output of tmux capture-pane -e. The file is named after the
// agent, what it shows and the version of the program.
func view(t *testing.T, file string) ansi.View {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	first, rest, _ := strings.Cut(string(text), "\n")
	v := ansi.View{Text: rest}
	if _, err := fmt.Sscanf(first, "%d %d %dx%d", &v.X, &v.Y, &v.Width, &v.Height); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return v
}

func recordedScreens(t *testing.T) map[string]ansi.View {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "screen", "*.ansi"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]ansi.View{}
	for _, file := range files {
		name, _, _ := strings.Cut(filepath.Base(file), "_")
		out[name] = view(t, file)
	}
	return out
}

// Recorded screens of the real programs, and what each of them takes. A line that ends with ... is
// longer.
func TestInput(t *testing.T) {
	want := map[string]ansi.Input{
		"claude-after-error":          {Kind: ansi.Prompt},
		"claude-api-key":              {Kind: ansi.Dialog},
		"claude-config":               {Kind: ansi.Dialog},
		"claude-half-typed-lines":     {Kind: ansi.Prompt, Line: "one line\nsecond line\nthird"},
		"claude-half-typed":           {Kind: ansi.Prompt, Line: "hello [[script:hello]]"},
		"claude-history-search":       {Kind: ansi.Dialog},
		"claude-interrupted":          {Kind: ansi.Prompt},
		"claude-login":                {Kind: ansi.Dialog},
		"claude-model-picker":         {Kind: ansi.Dialog},
		"claude-narrow-half-typed":    {Kind: ansi.Prompt, Line: "a half-typed line that is longer than the window is wide..."},
		"claude-narrow-prompt":        {Kind: ansi.Prompt},
		"claude-pasted-long":          {Kind: ansi.Prompt, Line: "[Pasted text #2 +29 lines]"},
		"claude-pasted-short":         {Kind: ansi.Prompt, Line: "[Pasted text #1 +3 lines]"},
		"claude-permission-refused":   {Kind: ansi.Prompt},
		"claude-permission":           {Kind: ansi.Dialog},
		"claude-prompt-empty":         {Kind: ansi.Prompt},
		"claude-prompt-first":         {Kind: ansi.Prompt},
		"claude-shell-mode-typed":     {Kind: ansi.Dialog},
		"claude-shell-mode":           {Kind: ansi.Dialog},
		"claude-slash-menu":           {Kind: ansi.Prompt, Line: "/"},
		"claude-theme":                {Kind: ansi.Dialog},
		"claude-transcript":           {Kind: ansi.Dialog},
		"claude-trust":                {Kind: ansi.Dialog},
		"claude-wide-half-typed":      {Kind: ansi.Prompt, Line: "wide"},
		"claude-wide-prompt":          {Kind: ansi.Prompt},
		"claude-working-half-typed":   {Kind: ansi.Prompt, Line: "half typed at work"},
		"claude-working-queued":       {Kind: ansi.Prompt},
		"claude-working":              {Kind: ansi.Prompt},
		"codex-after-error":           {Kind: ansi.Prompt},
		"codex-api-key-typed":         {Kind: ansi.Dialog},
		"codex-api-key":               {Kind: ansi.Dialog},
		"codex-exited-shell":          {Kind: ansi.Unknown},
		"codex-half-typed-lines":      {Kind: ansi.Prompt, Line: "one line\nsecond line\nthird"},
		"codex-half-typed":            {Kind: ansi.Prompt, Line: "hello [[script:hello]]"},
		"codex-history-search":        {Kind: ansi.Dialog},
		"codex-interrupted":           {Kind: ansi.Prompt},
		"codex-login-api-key-chosen":  {Kind: ansi.Dialog},
		"codex-login":                 {Kind: ansi.Dialog},
		"codex-model-picker":          {Kind: ansi.Dialog},
		"codex-narrow-half-typed":     {Kind: ansi.Prompt, Line: "a half-typed line that is longer than the window is wide..."},
		"codex-narrow-prompt":         {Kind: ansi.Prompt},
		"codex-pasted-line":           {Kind: ansi.Prompt, Line: "A single long line. A single long line. A single long..."},
		"codex-pasted-long":           {Kind: ansi.Prompt, Line: "[Pasted Content 1549 chars]"},
		"codex-pasted-short":          {Kind: ansi.Prompt, Line: "Review round 1 failed.\nfirst \"x\"\n$y `z`\nlast"},
		"codex-prompt-empty":          {Kind: ansi.Prompt},
		"codex-prompt-first":          {Kind: ansi.Prompt},
		"codex-shell-mode-typed":      {Kind: ansi.Dialog},
		"codex-shell-mode":            {Kind: ansi.Dialog},
		"codex-slash-menu":            {Kind: ansi.Prompt, Line: "/"},
		"codex-trust":                 {Kind: ansi.Dialog},
		"codex-wide-half-typed":       {Kind: ansi.Prompt, Line: "wide"},
		"codex-wide-prompt":           {Kind: ansi.Prompt},
		"codex-working-half-typed":    {Kind: ansi.Prompt, Line: "half typed at work"},
		"codex-working-queued":        {Kind: ansi.Prompt},
		"codex-working":               {Kind: ansi.Prompt},
		"gemini-after-error":          {Kind: ansi.Prompt},
		"gemini-half-typed-lines":     {Kind: ansi.Prompt, Line: "one line\nsecond line\nthird"},
		"gemini-half-typed":           {Kind: ansi.Prompt, Line: "hello [[script:hello]]"},
		"gemini-history-search":       {Kind: ansi.Dialog},
		"gemini-interrupted":          {Kind: ansi.Prompt},
		"gemini-login":                {Kind: ansi.Dialog},
		"gemini-model-picker":         {Kind: ansi.Dialog},
		"gemini-narrow-half-typed":    {Kind: ansi.Prompt, Line: "a half-typed line that is longer than the window is wide..."},
		"gemini-narrow-prompt":        {Kind: ansi.Prompt},
		"gemini-pasted-line":          {Kind: ansi.Prompt, Line: "A single long line. A single long line. A single long..."},
		"gemini-pasted-long":          {Kind: ansi.Prompt, Line: "[Pasted Text: 60 lines]"},
		"gemini-pasted-short":         {Kind: ansi.Prompt, Line: "Review round 1 failed.\nfirst \"x\"\n$y `z`\nlast"},
		"gemini-permission":           {Kind: ansi.Dialog},
		"gemini-prompt-asking-mode":   {Kind: ansi.Prompt},
		"gemini-prompt-empty":         {Kind: ansi.Prompt},
		"gemini-prompt-first":         {Kind: ansi.Prompt},
		"gemini-shell-mode-typed":     {Kind: ansi.Dialog},
		"gemini-shell-mode":           {Kind: ansi.Dialog},
		"gemini-slash-menu":           {Kind: ansi.Prompt, Line: "/"},
		"gemini-trust":                {Kind: ansi.Dialog},
		"gemini-wide-half-typed":      {Kind: ansi.Prompt, Line: "wide"},
		"gemini-wide-prompt":          {Kind: ansi.Prompt},
		"gemini-working-half-typed":   {Kind: ansi.Prompt, Line: "half typed at work"},
		"gemini-working-queued":       {Kind: ansi.Prompt},
		"gemini-working":              {Kind: ansi.Prompt},
		"opencode-after-error":        {Kind: ansi.Prompt},
		"opencode-half-typed-lines":   {Kind: ansi.Prompt, Line: "one line\nsecond line"},
		"opencode-half-typed":         {Kind: ansi.Prompt, Line: "[[script:ask]]"},
		"opencode-interrupted":        {Kind: ansi.Prompt},
		"opencode-model-picker":       {Kind: ansi.Unknown},
		"opencode-narrow-half-typed":  {Kind: ansi.Prompt, Line: "a half-typed line that is longer than the window is wide..."},
		"opencode-narrow-prompt":      {Kind: ansi.Prompt},
		"opencode-palette":            {Kind: ansi.Unknown},
		"opencode-pasted-line":        {Kind: ansi.Prompt, Line: "[Pasted ~1 lines]"},
		"opencode-pasted-long":        {Kind: ansi.Prompt, Line: "[Pasted ~60 lines]"},
		"opencode-pasted-short":       {Kind: ansi.Prompt, Line: "[Pasted ~4 lines]"},
		"opencode-permission":         {Kind: ansi.Dialog},
		"opencode-prompt-empty":       {Kind: ansi.Prompt},
		"opencode-prompt-first":       {Kind: ansi.Prompt},
		"opencode-shell-mode-typed":   {Kind: ansi.Dialog},
		"opencode-shell-mode":         {Kind: ansi.Dialog},
		"opencode-slash-menu":         {Kind: ansi.Prompt, Line: "move         Move to another project dir\nreview      ..."},
		"opencode-wide-half-typed":    {Kind: ansi.Prompt, Line: "wide"},
		"opencode-wide-prompt":        {Kind: ansi.Prompt},
		"opencode-working-half-typed": {Kind: ansi.Prompt, Line: "half typed at work"},
		"opencode-working-queued":     {Kind: ansi.Prompt},
		"opencode-working":            {Kind: ansi.Prompt},
		"pi-after-error":              {Kind: ansi.Prompt},
		"pi-half-typed-lines":         {Kind: ansi.Prompt, Line: "one line\nsecond line"},
		"pi-half-typed":               {Kind: ansi.Prompt, Line: "hello [[script:hello]]"},
		"pi-interrupted":              {Kind: ansi.Prompt, Line: "half typed at work"},
		"pi-model-picker":             {Kind: ansi.Dialog},
		"pi-narrow-half-typed":        {Kind: ansi.Prompt, Line: "a half-typed line that is longer than the window is wide..."},
		"pi-narrow-prompt":            {Kind: ansi.Prompt},
		"pi-pasted-line":              {Kind: ansi.Prompt, Line: "A single long line. A single long line. A single long..."},
		"pi-pasted-long":              {Kind: ansi.Prompt, Line: "[paste #1 +60 lines]"},
		"pi-pasted-short":             {Kind: ansi.Prompt, Line: "Review round 1 failed.\nfirst \"x\"\n$y `z`\nlast"},
		"pi-prompt-empty":             {Kind: ansi.Prompt},
		"pi-prompt-first":             {Kind: ansi.Prompt},
		"pi-shell-mode-typed":         {Kind: ansi.Prompt, Line: "!ls"},
		"pi-shell-mode":               {Kind: ansi.Prompt, Line: "!"},
		"pi-slash-menu":               {Kind: ansi.Dialog},
		"pi-wide-half-typed":          {Kind: ansi.Prompt, Line: "wide"},
		"pi-wide-prompt":              {Kind: ansi.Prompt},
		"pi-working-half-typed":       {Kind: ansi.Prompt, Line: "half typed at work"},
		"pi-working-queued":           {Kind: ansi.Prompt},
		"pi-working":                  {Kind: ansi.Prompt},
	}
	got := recordedScreens(t)
	for name, v := range got {
		agent, _, _ := strings.Cut(name, "-")
		in := find(t, agent).ReadInput(v)
		expected, ok := want[name]
		same := in.Kind == expected.Kind && in.Line == expected.Line
		if head, long := strings.CutSuffix(expected.Line, "..."); long {
			same = in.Kind == expected.Kind && strings.HasPrefix(in.Line, head)
		}
		if !ok || !same {
			t.Errorf("%s: %s %q, want %s %q", name, in.Kind, in.Line, expected.Kind, expected.Line)
		}
	}
	for name := range want {
		if _, ok := got[name]; !ok {
			t.Errorf("%s is not recorded", name)
		}
	}
}

// A dialog is not an empty prompt, wherever its program keeps the cursor.
func TestDialogsOfOtherRecordings(t *testing.T) {
	for _, name := range []string{
		"claude-permission", "claude-question", "claude-trust", "claude-trust-no", "claude-bypass", "codex-permission", "codex-trust", "gemini-permission", "gemini-limit", "opencode-permission",
	} {
		agent, _, _ := strings.Cut(name, "-")
		text := pane(t, name)
		for y := range strings.Count(text, "\n") {
			for x := range 6 {
				if in := find(t, agent).ReadInput(ansi.View{Text: text, X: x, Y: y, Width: 110, Height: 48}); in.Kind == ansi.Prompt && in.Line == "" || x == 0 && in.Kind != ansi.Dialog {
					t.Errorf("%s with the cursor at %d, %d: %s %q", name, x, y, in.Kind, in.Line)
				}
			}
		}
	}
}

// Every program shows a pasted message as its words or in a short form, and what a person typed as
// well is seen.
func TestAPastedMessageIsRecognised(t *testing.T) {
	short := "Review round 1 failed.\nfirst \"x\"\n$y `z`\nlast"
	var lines []string
	for i := range 60 {
		lines = append(lines, fmt.Sprintf("line %d of a long message", i))
	}
	texts := map[string]string{"short": short, "long": strings.Join(lines, "\n"), "line": strings.Repeat("A single long line. ", 20)}
	for name, v := range recordedScreens(t) {
		agent, what, _ := strings.Cut(name, "-")
		kind, pasted := strings.CutPrefix(what, "pasted-")
		in := find(t, agent).ReadInput(v)
		if text := texts[kind]; pasted && !in.HoldsText(text) {
			t.Errorf("%s: %q is not %q", name, in.Line, text)
		}
		in.Line = "and " + in.Line
		if pasted && in.HoldsText(texts[kind]) {
			t.Errorf("%s: %q is taken for the message alone", name, in.Line)
		}
		if !pasted && in.HoldsText(short) {
			t.Errorf("%s holds a message", name)
		}
	}
}

// The answers of dialogs, with what a person decides about above them.
func TestChoices(t *testing.T) {
	for name, want := range map[string]struct{ agent, holds, choices string }{
		"claude-permission":   {"claude", "touch x.txt && curl http://example.invalid", "1 Yes|2 Yes, and don't ask again for touch x.txt and curl http://example.invalid commands in /work/tree|3 No"},
		"claude-question":     {"claude", "Which colour?", "1 Red|2 Blue|3 Type something.|4 Chat about this"},
		"codex-permission":    {"codex", "$ touch /etc/xyzzy", "1 Yes, proceed (y)|2 Yes, and don't ask again for commands that start with `touch /etc/xyzzy` (p)|3 No, and tell Codex what to do differently (esc)"},
		"gemini-permission":   {"gemini", "echo hello-from-tool > out.txt", "1 Allow once|2 Allow for this session|3 No, suggest changes (esc)"},
		"opencode-permission": {"opencode", "echo hello-from-tool > out.txt", ""}, // its answers have no keys of their own
		"claude-at-work":      {"claude", "", ""},
	} {
		v := ansi.View{Text: pane(t, name), Width: 120, Height: 40}
		v.Y = strings.Count(v.Text, "\n")
		got := find(t, want.agent).ReadInput(v)
		var list []string
		for _, c := range got.Choices() {
			list = append(list, c.Key+" "+c.Label)
		}
		if all := strings.Join(list, "|"); all != want.choices || !strings.Contains(got.Question, want.holds) {
			t.Errorf("%s: %q in %q", name, all, got.Question)
		}
	}
}
