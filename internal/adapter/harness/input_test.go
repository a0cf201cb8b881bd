package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/core/screen"
)

// view reads a recorded screen: its first line says where the cursor was and how large the window, the
// rest is what tmux capture-pane -e printed. The file is named after the agent, what it shows and the
// version of the program.
func view(t *testing.T, file string) screen.View {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	first, rest, _ := strings.Cut(string(text), "\n")
	v := screen.View{Text: rest}
	if _, err := fmt.Sscanf(first, "%d %d %dx%d", &v.X, &v.Y, &v.Width, &v.Height); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return v
}

func recordedScreens(t *testing.T) map[string]screen.View {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "screen", "*.ansi"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]screen.View{}
	for _, file := range files {
		name, _, _ := strings.Cut(filepath.Base(file), "_")
		out[name] = view(t, file)
	}
	return out
}

// Recorded screens of the real programs, and what each of them takes. A line that ends with ... is
// longer.
func TestInput(t *testing.T) {
	want := map[string]screen.Input{
		"claude-after-error":          {Kind: screen.Prompt},
		"claude-api-key":              {Kind: screen.Dialog},
		"claude-config":               {Kind: screen.Dialog},
		"claude-half-typed-lines":     {Kind: screen.Prompt, Line: "one line\nsecond line\nthird"},
		"claude-half-typed":           {Kind: screen.Prompt, Line: "hello [[script:hello]]"},
		"claude-history-search":       {Kind: screen.Dialog},
		"claude-interrupted":          {Kind: screen.Prompt},
		"claude-login":                {Kind: screen.Dialog},
		"claude-model-picker":         {Kind: screen.Dialog},
		"claude-narrow-half-typed":    {Kind: screen.Prompt, Line: "a half-typed line that is longer than the window is wide..."},
		"claude-narrow-prompt":        {Kind: screen.Prompt},
		"claude-pasted-long":          {Kind: screen.Prompt, Line: "[Pasted text #2 +29 lines]"},
		"claude-pasted-short":         {Kind: screen.Prompt, Line: "[Pasted text #1 +3 lines]"},
		"claude-permission-refused":   {Kind: screen.Prompt},
		"claude-permission":           {Kind: screen.Dialog},
		"claude-prompt-empty":         {Kind: screen.Prompt},
		"claude-prompt-first":         {Kind: screen.Prompt},
		"claude-shell-mode-typed":     {Kind: screen.Dialog},
		"claude-shell-mode":           {Kind: screen.Dialog},
		"claude-slash-menu":           {Kind: screen.Prompt, Line: "/"},
		"claude-theme":                {Kind: screen.Dialog},
		"claude-transcript":           {Kind: screen.Dialog},
		"claude-trust":                {Kind: screen.Dialog},
		"claude-wide-half-typed":      {Kind: screen.Prompt, Line: "wide"},
		"claude-wide-prompt":          {Kind: screen.Prompt},
		"claude-working-half-typed":   {Kind: screen.Prompt, Line: "half typed at work"},
		"claude-working-queued":       {Kind: screen.Prompt},
		"claude-working":              {Kind: screen.Prompt},
		"codex-after-error":           {Kind: screen.Prompt},
		"codex-api-key-typed":         {Kind: screen.Dialog},
		"codex-api-key":               {Kind: screen.Dialog},
		"codex-exited-shell":          {Kind: screen.Unknown},
		"codex-half-typed-lines":      {Kind: screen.Prompt, Line: "one line\nsecond line\nthird"},
		"codex-half-typed":            {Kind: screen.Prompt, Line: "hello [[script:hello]]"},
		"codex-history-search":        {Kind: screen.Dialog},
		"codex-interrupted":           {Kind: screen.Prompt},
		"codex-login-api-key-chosen":  {Kind: screen.Dialog},
		"codex-login":                 {Kind: screen.Dialog},
		"codex-model-picker":          {Kind: screen.Dialog},
		"codex-narrow-half-typed":     {Kind: screen.Prompt, Line: "a half-typed line that is longer than the window is wide..."},
		"codex-narrow-prompt":         {Kind: screen.Prompt},
		"codex-pasted-line":           {Kind: screen.Prompt, Line: "A single long line. A single long line. A single long..."},
		"codex-pasted-long":           {Kind: screen.Prompt, Line: "[Pasted Content 1549 chars]"},
		"codex-pasted-short":          {Kind: screen.Prompt, Line: "Review round 1 failed.\nfirst \"x\"\n$y `z`\nlast"},
		"codex-prompt-empty":          {Kind: screen.Prompt},
		"codex-prompt-first":          {Kind: screen.Prompt},
		"codex-shell-mode-typed":      {Kind: screen.Dialog},
		"codex-shell-mode":            {Kind: screen.Dialog},
		"codex-slash-menu":            {Kind: screen.Prompt, Line: "/"},
		"codex-trust":                 {Kind: screen.Dialog},
		"codex-wide-half-typed":       {Kind: screen.Prompt, Line: "wide"},
		"codex-wide-prompt":           {Kind: screen.Prompt},
		"codex-working-half-typed":    {Kind: screen.Prompt, Line: "half typed at work"},
		"codex-working-queued":        {Kind: screen.Prompt},
		"codex-working":               {Kind: screen.Prompt},
		"gemini-after-error":          {Kind: screen.Prompt},
		"gemini-half-typed-lines":     {Kind: screen.Prompt, Line: "one line\nsecond line\nthird"},
		"gemini-half-typed":           {Kind: screen.Prompt, Line: "hello [[script:hello]]"},
		"gemini-history-search":       {Kind: screen.Dialog},
		"gemini-interrupted":          {Kind: screen.Prompt},
		"gemini-login":                {Kind: screen.Dialog},
		"gemini-model-picker":         {Kind: screen.Dialog},
		"gemini-narrow-half-typed":    {Kind: screen.Prompt, Line: "a half-typed line that is longer than the window is wide..."},
		"gemini-narrow-prompt":        {Kind: screen.Prompt},
		"gemini-pasted-line":          {Kind: screen.Prompt, Line: "A single long line. A single long line. A single long..."},
		"gemini-pasted-long":          {Kind: screen.Prompt, Line: "[Pasted Text: 60 lines]"},
		"gemini-pasted-short":         {Kind: screen.Prompt, Line: "Review round 1 failed.\nfirst \"x\"\n$y `z`\nlast"},
		"gemini-permission":           {Kind: screen.Dialog},
		"gemini-prompt-asking-mode":   {Kind: screen.Prompt},
		"gemini-prompt-empty":         {Kind: screen.Prompt},
		"gemini-prompt-first":         {Kind: screen.Prompt},
		"gemini-shell-mode-typed":     {Kind: screen.Dialog},
		"gemini-shell-mode":           {Kind: screen.Dialog},
		"gemini-slash-menu":           {Kind: screen.Prompt, Line: "/"},
		"gemini-trust":                {Kind: screen.Dialog},
		"gemini-wide-half-typed":      {Kind: screen.Prompt, Line: "wide"},
		"gemini-wide-prompt":          {Kind: screen.Prompt},
		"gemini-working-half-typed":   {Kind: screen.Prompt, Line: "half typed at work"},
		"gemini-working-queued":       {Kind: screen.Prompt},
		"gemini-working":              {Kind: screen.Prompt},
		"opencode-after-error":        {Kind: screen.Prompt},
		"opencode-half-typed-lines":   {Kind: screen.Prompt, Line: "one line\nsecond line"},
		"opencode-half-typed":         {Kind: screen.Prompt, Line: "[[script:ask]]"},
		"opencode-interrupted":        {Kind: screen.Prompt},
		"opencode-model-picker":       {Kind: screen.Unknown},
		"opencode-narrow-half-typed":  {Kind: screen.Prompt, Line: "a half-typed line that is longer than the window is wide..."},
		"opencode-narrow-prompt":      {Kind: screen.Prompt},
		"opencode-palette":            {Kind: screen.Unknown},
		"opencode-pasted-line":        {Kind: screen.Prompt, Line: "[Pasted ~1 lines]"},
		"opencode-pasted-long":        {Kind: screen.Prompt, Line: "[Pasted ~60 lines]"},
		"opencode-pasted-short":       {Kind: screen.Prompt, Line: "[Pasted ~4 lines]"},
		"opencode-permission":         {Kind: screen.Dialog},
		"opencode-prompt-empty":       {Kind: screen.Prompt},
		"opencode-prompt-first":       {Kind: screen.Prompt},
		"opencode-shell-mode-typed":   {Kind: screen.Dialog},
		"opencode-shell-mode":         {Kind: screen.Dialog},
		"opencode-slash-menu":         {Kind: screen.Prompt, Line: "move         Move to another project dir\nreview      ..."},
		"opencode-wide-half-typed":    {Kind: screen.Prompt, Line: "wide"},
		"opencode-wide-prompt":        {Kind: screen.Prompt},
		"opencode-working-half-typed": {Kind: screen.Prompt, Line: "half typed at work"},
		"opencode-working-queued":     {Kind: screen.Prompt},
		"opencode-working":            {Kind: screen.Prompt},
		"pi-after-error":              {Kind: screen.Prompt},
		"pi-half-typed-lines":         {Kind: screen.Prompt, Line: "one line\nsecond line"},
		"pi-half-typed":               {Kind: screen.Prompt, Line: "hello [[script:hello]]"},
		"pi-interrupted":              {Kind: screen.Prompt, Line: "half typed at work"},
		"pi-model-picker":             {Kind: screen.Dialog},
		"pi-narrow-half-typed":        {Kind: screen.Prompt, Line: "a half-typed line that is longer than the window is wide..."},
		"pi-narrow-prompt":            {Kind: screen.Prompt},
		"pi-pasted-line":              {Kind: screen.Prompt, Line: "A single long line. A single long line. A single long..."},
		"pi-pasted-long":              {Kind: screen.Prompt, Line: "[paste #1 +60 lines]"},
		"pi-pasted-short":             {Kind: screen.Prompt, Line: "Review round 1 failed.\nfirst \"x\"\n$y `z`\nlast"},
		"pi-prompt-empty":             {Kind: screen.Prompt},
		"pi-prompt-first":             {Kind: screen.Prompt},
		"pi-shell-mode-typed":         {Kind: screen.Prompt, Line: "!ls"},
		"pi-shell-mode":               {Kind: screen.Prompt, Line: "!"},
		"pi-slash-menu":               {Kind: screen.Dialog},
		"pi-wide-half-typed":          {Kind: screen.Prompt, Line: "wide"},
		"pi-wide-prompt":              {Kind: screen.Prompt},
		"pi-working-half-typed":       {Kind: screen.Prompt, Line: "half typed at work"},
		"pi-working-queued":           {Kind: screen.Prompt},
		"pi-working":                  {Kind: screen.Prompt},
	}
	got := recordedScreens(t)
	for name, v := range got {
		agent, _, _ := strings.Cut(name, "-")
		in := find(t, agent).ReadInput(v)
		expected, ok := want[name]
		same := in == expected
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

// A dialog is no empty prompt, wherever its program keeps the cursor.
func TestDialogsOfOtherRecordings(t *testing.T) {
	for _, name := range []string{
		"claude-permission", "claude-question", "claude-trust", "claude-trust-no", "claude-bypass", "codex-permission", "codex-trust", "gemini-permission", "gemini-limit", "opencode-permission",
	} {
		agent, _, _ := strings.Cut(name, "-")
		text := pane(t, name)
		for y := range strings.Count(text, "\n") {
			for x := range 6 {
				if in := find(t, agent).ReadInput(screen.View{Text: text, X: x, Y: y, Width: 110, Height: 48}); in.Kind == screen.Prompt && in.Line == "" || x == 0 && in.Kind != screen.Dialog {
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
