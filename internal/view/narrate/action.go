package narrate

import (
	"strconv"
	"strings"

	"orange/internal/core/engine"
	"orange/internal/core/explain"
)

// FormatCommand returns an action as a command line, or "" if there is nothing to do.
func FormatCommand(a explain.Action) string {
	id := string(a.Task)
	switch a.Verb {
	case "":
		return ""
	case explain.VerbResume:
		return strings.TrimSpace("orange resume " + id)
	case explain.VerbDoctor:
		return "orange doctor"
	case explain.VerbResumeLanding:
		return "orange land resume " + a.Project
	case explain.VerbEnlargePool:
		return "orange project update " + a.Project + " --pool-size " + strconv.Itoa(a.Size)
	case explain.VerbTrustGit:
		return "orange project update " + a.Project + " --trust-git"
	case explain.VerbShowCard:
		return "orange board show " + a.Card
	case explain.VerbTagCard:
		words := append([]string{"orange board tag", a.Card}, a.Tags...)
		for _, tag := range a.Untags {
			words = append(words, "--remove", tag)
		}
		return strings.Join(words, " ")
	case explain.VerbDropAfter:
		return "orange task update " + id + " --not-after " + string(a.After)
	case explain.VerbMove:
		return "orange task update " + id + " --status " + a.To
	case engine.VerbAnswer:
		return "orange task answer " + id + ` "..."`
	}
	command := "orange task " + a.Verb + " " + id
	if a.Note != "" {
		command += " " + quoteForShell(a.Note)
	}
	return command
}

// quoteForShell quotes a text as one word of a shell. The text may contain file names, which must not
// be run as commands.
func quoteForShell(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// AddCommand sets the command line of an item, if it has an action.
func AddCommand(it *explain.Item) {
	if it.Action.Verb != "" {
		it.Do = FormatCommand(it.Action)
	}
}

// AddCommands sets the command lines of an explanation.
func AddCommands(x *explain.Explanation) {
	x.Cheapest.Run = FormatCommand(x.Cheapest.Action)
	if x.Owner == explain.APerson {
		x.Do = x.Cheapest.Run
	}
}
