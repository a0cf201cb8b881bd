package workflow

import (
	"fmt"
	"orange/internal/lazy"
	"orange/internal/view/humanize"
	"path"
	"slices"
	"strings"
)

// A fragment is a file next to a workflow with roles, counters, gates and prompts that several
// workflows share. The text of a workflow that includes fragments is followed by theirs, each
// after a line that begins a YAML document and names the file. A task is pinned to this whole
// text.

// fragmentLine begins a fragment in the text of a workflow.
var fragmentLine = lazy.NewRegexp(`(?m)^--- # include (\S+)\r?\n`)

// maxFragments limits how many fragments a workflow includes.
const maxFragments = 16

// fragmentKeys are the keys that a fragment may declare.
var fragmentKeys = [...]string{"roles", "counters", "gates", "prompts"}

// A fragment is the text of an included file.
type fragment struct{ name, text string }

// splitFragments splits a text into the workflow and the fragments after it.
func splitFragments(text string) (main string, list []fragment) {
	at := fragmentLine.FindAllStringSubmatchIndex(text, -1)
	if len(at) == 0 {
		return text, nil
	}
	for i, m := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		list = append(list, fragment{name: text[m[2]:m[3]], text: text[m[1]:end]})
	}
	return text[:at[0][0]], list
}

// ExpandIncludes returns the text of a workflow with the fragments that it includes. read
// returns the text of a file in the folder of the workflow. ExpandIncludes returns a text that
// it cannot parse unchanged: Parse reports what is wrong with it.
func ExpandIncludes(file, text string, read func(name string) (string, error)) (string, error) {
	main, have := splitFragments(text)
	if len(have) > 0 || !strings.Contains(main, "include") {
		return text, nil
	}
	r := &reader{file: file}
	root, ok := r.openRoot(main)
	if !ok || !slices.Contains(root.mappingKeys(), "include") {
		return text, nil
	}
	var b strings.Builder
	b.WriteString(strings.TrimRight(main, "\n") + "\n")
	for _, p := range root.readPairs("the workflow") {
		if p.key != "include" {
			continue
		}
		for _, v := range p.val.includedFiles() {
			got, err := read(v.name)
			if err != nil {
				r.failAt(v.pos, "include: %s cannot be read: %s", v.name, firstLine(err))
			}
			if fragmentLine.MatchString(got + "\n") {
				r.failAt(v.pos, "include: %s has a line that begins with --- # include: remove it", v.name)
			}
			fmt.Fprintf(&b, "--- # include %s\n%s\n", v.name, strings.TrimRight(got, "\n"))
		}
	}
	if r.err != nil {
		return "", r.err
	}
	return b.String(), nil
}

// inclusion is one name under include:.
type inclusion struct {
	name string
	pos  Pos
}

func (v value) includedFiles() []inclusion {
	var out []inclusion
	for _, item := range v.readList() {
		name := item.readText("include")
		switch extension := path.Ext(name); {
		case v.r.err != nil:
		case !plainFile.MatchString(name):
			v.r.failAt(item.pos, "include: %q is not a file of the same folder: give its name, without a path", name)
		case extension != ".yaml" && extension != ".yml":
			v.r.failAt(item.pos, "include: %q: fragments are written in YAML: call the file .yaml", name)
		case slices.ContainsFunc(out, func(i inclusion) bool { return i.name == name }):
			v.r.failAt(item.pos, "include: %s is given twice: keep one", name)
		case len(out) == maxFragments:
			v.r.failAt(item.pos, "include: there are more than %d fragments: put some together", maxFragments)
		}
		out = append(out, inclusion{name, item.pos})
	}
	return out
}

var plainFile = lazy.NewRegexp(`^[\pL\pN_][\pL\pN_.-]*$`)

// readFragments reads what the included files declare.
func (d *Definition) readFragments(r *reader, include []inclusion, have []fragment) {
	for _, i := range include {
		at := slices.IndexFunc(have, func(f fragment) bool { return f.name == i.name })
		if at < 0 {
			r.failAt(i.pos, "include: the text of %s is not here: check the file itself, or the output of orange workflow show", i.name)
			return
		}
		part := &reader{file: path.Join(path.Dir(strings.ReplaceAll(r.file, `\`, "/")), i.name)}
		part.part = part.file
		if root, ok := part.openRoot(have[at].text); ok {
			d.readFragment(part, root)
		}
		if part.err != nil && r.err == nil {
			r.err = part.err
		}
	}
	for _, f := range have {
		if !slices.ContainsFunc(include, func(i inclusion) bool { return i.name == f.name }) {
			r.failAt(beginning, "the text of %s is here, and include: does not name it: add it, or remove the text", f.name)
		}
	}
	d.declaredOnce(r)
}

func (d *Definition) readFragment(r *reader, root value) {
	for _, p := range root.readPairs("the fragment") {
		switch p.key {
		case "roles":
			d.readRoles(p.val)
		case "counters":
			d.readCounters(p.val)
		case "gates":
			d.readGates(p.val)
		case "prompts":
			d.readPrompts(p.val)
		default:
			unknownKey(r, p, "a fragment", fragmentKeys[:]...)
		}
	}
}

// declaredOnce refuses a name that two of the files declare.
func (d *Definition) declaredOnce(r *reader) {
	seen := map[string]Pos{}
	once := func(what, name string, pos Pos) {
		key := what + " " + name
		if first, ok := seen[key]; ok && r.err == nil {
			file := first.File
			if file == "" {
				file = d.File
			}
			r.err = &Error{File: pos.File, Pos: pos, What: humanize.OneLine(fmt.Sprintf("%s is declared in %s:%d:%d too: keep one", key, file, first.Line, first.Column))}
		}
		seen[key] = pos
	}
	for i := range d.Roles {
		once("role", d.Roles[i].Name, d.Roles[i].Pos)
	}
	for i := range d.Counters {
		once("counter", d.Counters[i].Name, d.Counters[i].Pos)
	}
	for i := range d.Gates {
		once("gate", d.Gates[i].Name, d.Gates[i].Pos)
	}
	for i := range d.Prompts {
		once("prompt", d.Prompts[i].Name, d.Prompts[i].Pos)
	}
}

// IsFragment reports whether a text declares only what a fragment may, so that it is not a
// workflow by itself.
func IsFragment(file, text string) bool {
	root, ok := (&reader{file: file}).openRoot(text)
	if !ok || inJSON(file, text) {
		return false
	}
	keys := root.mappingKeys()
	return len(keys) > 0 && !slices.ContainsFunc(keys, func(k string) bool { return !slices.Contains(fragmentKeys[:], k) })
}
