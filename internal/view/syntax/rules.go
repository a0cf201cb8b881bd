package syntax

import (
	"strings"

	"github.com/alecthomas/chroma/v2"
)

// code describes a language of statements: words, strings and comments.
type code struct {
	line     string // regular expression of the start of a comment that ends with its line, "" for none
	block    [2]string
	quotes   string // characters around strings of one line
	raw      string // characters around strings of several lines
	triple   bool   // strings of several lines begin with three quotes
	keywords string
	types    string
	consts   string
	extra    []chroma.Rule // tried first
}

// rules returns the rules of the language. Each pattern matches in time that grows with the text, not faster: the text is
// untrusted.
func (c code) rules() chroma.Rules {
	out := chroma.Rules{}
	root := append([]chroma.Rule{{Pattern: `\s+`, Type: chroma.Text}}, c.extra...)
	if c.line != "" {
		root = append(root, chroma.Rule{Pattern: c.line + `[^\n]*`, Type: chroma.Comment})
	}
	if c.block[0] != "" {
		root = append(root, between(out, "block", c.block[0], c.block[1], chroma.Comment))
	}
	if c.triple {
		root = append(root, between(out, "triple2", `"""`, `"""`, chroma.LiteralString), between(out, "triple1", `'''`, `'''`, chroma.LiteralString))
	}
	for _, q := range c.quotes {
		s := string(q)
		root = append(root, chroma.Rule{Pattern: s + `(?:\\.|[^` + s + `\\\n])*` + s + `?`, Type: chroma.LiteralString})
	}
	for _, q := range c.raw {
		s := string(q)
		root = append(root, chroma.Rule{Pattern: s + `[^` + s + `]*` + s + `?`, Type: chroma.LiteralString})
	}
	root = append(root, chroma.Rule{Pattern: `0[xX][\da-fA-F_]+\w*|\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?\w*`, Type: chroma.LiteralNumber})
	for _, w := range []struct {
		words string
		kind  chroma.TokenType
	}{{c.keywords, chroma.Keyword}, {c.types, chroma.KeywordType}, {c.consts, chroma.KeywordConstant}} {
		if w.words != "" {
			root = append(root, chroma.Rule{Pattern: chroma.Words(``, `\b`, strings.Fields(w.words)...), Type: w.kind})
		}
	}
	root = append(root,
		chroma.Rule{Pattern: `@[A-Za-z_][\w.]*`, Type: chroma.NameDecorator},
		chroma.Rule{Pattern: `[\p{L}_$][\p{L}\d_$]*(?=\()`, Type: chroma.NameFunction},
		chroma.Rule{Pattern: `[\p{L}_$][\p{L}\d_$]*`, Type: chroma.Name},
		anything)
	out["root"] = root
	return out
}

// anything matches one character, so that every text can be read.
var anything = chroma.Rule{Pattern: `(?s).`, Type: chroma.Text}

// between returns a rule for what is between two marks, also over several lines, and adds the state that it needs.
func between(out chroma.Rules, state, begin, end string, kind chroma.TokenType) chroma.Rule {
	out[state] = []chroma.Rule{
		{Pattern: end, Type: kind, Mutator: chroma.Pop(1)},
		{Pattern: `\\(?s:.)`, Type: kind},
		{Pattern: `[^\\*"'\-\]}=%]+`, Type: kind},
		{Pattern: `(?s).`, Type: kind},
	}
	return chroma.Rule{Pattern: begin, Type: kind, Mutator: chroma.Push(state)}
}

// cKeywords are the words that most languages with braces share.
const cKeywords = "break case catch class const continue default do else enum export extends finally for if import in interface new private protected public return static struct super switch this throw try while"

// languageTable returns the languages, without their lexers.
func languageTable() []*language {
	return []*language{
		{name: "Go", files: "*.go", rules: code{line: `//`, block: [2]string{`/\*`, `\*/`}, quotes: `"'`, raw: "`",
			keywords: "break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var",
			types:    "any bool byte comparable complex128 complex64 error float32 float64 int int16 int32 int64 int8 rune string uint uint16 uint32 uint64 uint8 uintptr",
			consts:   "true false nil iota"}.rules},
		{name: "JavaScript", files: "*.js *.mjs *.cjs *.jsx *.ts *.mts *.cts *.tsx", rules: code{line: `//`, block: [2]string{`/\*`, `\*/`}, quotes: `"'`, raw: "`",
			keywords: cKeywords + " abstract as async await debugger declare delete function get implements instanceof is keyof let module namespace of readonly set type typeof var void with yield from satisfies",
			types:    "any bigint boolean never number object string symbol unknown Array Map Promise Set", consts: "true false null undefined NaN Infinity"}.rules},
		{name: "Python", files: "*.py *.pyi *.pyw *.bzl BUILD WORKSPACE", rules: code{line: `#`, quotes: `"'`, triple: true,
			keywords: "and as assert async await break class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return try while with yield case",
			types:    "bool bytes dict float frozenset int list object set str tuple type", consts: "True False None self cls"}.rules},
		{name: "Rust", files: "*.rs", rules: code{line: `//`, block: [2]string{`/\*`, `\*/`}, quotes: `"`,
			extra:    []chroma.Rule{{Pattern: `'(?:\\.|[^'\\\n])'`, Type: chroma.LiteralString}, {Pattern: `'\w+`, Type: chroma.NameAttribute}, {Pattern: `[A-Za-z_]\w*!`, Type: chroma.NameFunction}, {Pattern: `#!?\[[^\]\n]*\]`, Type: chroma.NameDecorator}},
			keywords: "as async await break const continue crate dyn else enum extern fn for if impl in let loop match mod move mut pub ref return static struct super trait type unsafe use where while",
			types:    "bool char f32 f64 i128 i16 i32 i64 i8 isize str u128 u16 u32 u64 u8 usize Box Option Result Self String Vec", consts: "true false self None Some Ok Err"}.rules},
		{name: "Java", files: "*.java *.kt *.kts *.scala *.groovy *.gradle *.cs *.swift *.dart", rules: code{line: `//`, block: [2]string{`/\*`, `\*/`}, quotes: `"'`, triple: true,
			keywords: cKeywords + " abstract as async await base companion data def deinit delegate extension final fun func get guard implements init inner instanceof internal is lazy let namespace native object open operator out override package protocol record sealed set string synchronized throws trait transient typealias using val var virtual volatile when where yield",
			types:    "bool boolean byte char double float int long short void Any Boolean Double Float Int Integer List Long Map Object Set String Unit", consts: "true false null nil self it"}.rules},
		{name: "C", files: "*.c *.h *.cc *.cpp *.cxx *.hh *.hpp *.hxx *.m *.mm *.ino *.proto *.glsl *.cu", rules: code{line: `//`, block: [2]string{`/\*`, `\*/`}, quotes: `"'`,
			extra:    []chroma.Rule{{Pattern: `#[ \t]*[a-z]+`, Type: chroma.KeywordPseudo}},
			keywords: cKeywords + " alignas alignof auto co_await co_return co_yield concept constexpr consteval delete explicit extern final friend goto inline message mutable namespace noexcept oneof operator override package register repeated requires restrict rpc service sizeof syntax template typedef typename union using virtual volatile",
			types:    "bool char double float int int16_t int32_t int64_t int8_t long short signed size_t ssize_t uint16_t uint32_t uint64_t uint8_t unsigned void wchar_t string", consts: "true false nullptr NULL"}.rules},
		{name: "PHP", files: "*.php", rules: code{line: `(?://|#)`, block: [2]string{`/\*`, `\*/`}, quotes: `"'`,
			extra:    []chroma.Rule{{Pattern: `<\?(?:php|=)?|\?>`, Type: chroma.KeywordPseudo}, {Pattern: `\$\w+`, Type: chroma.NameVariable}},
			keywords: cKeywords + " abstract and array as echo elseif endforeach endif fn foreach function global implements include instanceof match namespace or require trait use var yield", types: "bool float int mixed string void", consts: "true false null"}.rules},
		{name: "Ruby", files: "*.rb *.rake *.gemspec Gemfile Rakefile", rules: code{line: `#`, quotes: `"'`, raw: "`",
			extra:    []chroma.Rule{{Pattern: `[@$]+\w+`, Type: chroma.NameVariable}, {Pattern: `:[A-Za-z_]\w*`, Type: chroma.KeywordConstant}},
			keywords: "alias and begin break case class def defined do else elsif end ensure for if in module next not or raise redo require require_relative rescue retry return super then undef unless until when while yield attr_accessor attr_reader include extend", consts: "true false nil self"}.rules},
		{name: "Lua", files: "*.lua", rules: code{line: `--`, quotes: `"'`, keywords: "and break do else elseif end for function goto if in local not or repeat return then until while", consts: "true false nil self"}.rules},
		{name: "Elixir", files: "*.ex *.exs", rules: code{line: `#`, quotes: `"'`, triple: true,
			keywords: "after and case catch cond def defimpl defmacro defmodule defp defprotocol defstruct do else end fn for if import in not or quote raise receive require rescue try unless use when with alias", consts: "true false nil"}.rules},
		{name: "Shell", files: "*.sh *.bash *.zsh *.ksh *.fish .bashrc .profile *.txtar", rules: code{line: `#`, quotes: `"`, raw: `'`,
			extra:    []chroma.Rule{{Pattern: `\$\{?[\w@*#?!-]+\}?`, Type: chroma.NameVariable}, {Pattern: `--?[A-Za-z][\w-]*`, Type: chroma.NameAttribute}},
			keywords: "case do done elif else esac export exec exit fi for function if in local readonly return set shift source then trap unset until while"}.rules},
		{name: "SQL", files: "*.sql", fold: true, rules: code{line: `--`, block: [2]string{`/\*`, `\*/`}, quotes: `"`, raw: `'`,
			keywords: "add all alter and as asc begin between by case check column commit constraint create cross default delete desc distinct drop else end exists foreign from full group having if in index inner insert into is join key left like limit not null offset on or order outer primary references replace returning right rollback select set table then transaction trigger union unique update using values view when where with without rowid",
			types:    "bigint blob boolean char date decimal float int integer json numeric real serial smallint text timestamp uuid varchar", consts: "true false"}.rules},
		{name: "Dockerfile", files: "Dockerfile *.dockerfile Containerfile", rules: code{line: `#`, quotes: `"'`, keywords: "ADD ARG AS CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL MAINTAINER ONBUILD RUN SHELL STOPSIGNAL USER VOLUME WORKDIR",
			extra: []chroma.Rule{{Pattern: `\$\{?\w+\}?`, Type: chroma.NameVariable}}}.rules},
		{name: "Makefile", files: "Makefile makefile *.mk", rules: code{line: `#`, quotes: `"'`, keywords: "define else endef endif export ifdef ifeq ifndef ifneq include override",
			extra: []chroma.Rule{{Pattern: `\$(?:\(\w+\)|\{\w+\}|[@<^*?])`, Type: chroma.NameVariable}, {Pattern: `(?m)^[\w./%-]+(?=[ \t\w./%-]*:(?!=))`, Type: chroma.NameFunction}}}.rules},
		{name: "HCL", files: "*.tf *.hcl *.nix *.bicep", rules: code{line: `(?:#|//)`, block: [2]string{`/\*`, `\*/`}, quotes: `"`, keywords: "data else for if in inherit let locals module output provider resource then variable with", consts: "true false null"}.rules},
		{name: "TOML", files: "*.toml *.ini *.cfg *.conf *.properties .editorconfig *.service", rules: code{line: `[#;]`, quotes: `"'`, triple: true, consts: "true false",
			extra: []chroma.Rule{{Pattern: `(?m)^\[[^\]\n]*\]+`, Type: chroma.GenericHeading}, {Pattern: `(?m)^[\w.-]+(?=[ \t]*=)`, Type: chroma.NameAttribute}}}.rules},
		{name: "JSON", files: "*.json *.jsonl *.json5 *.webmanifest *.map", rules: code{line: `//`, consts: "true false null",
			extra: []chroma.Rule{{Pattern: `"(?:\\.|[^"\\\n])*"(?=\s*:)`, Type: chroma.NameAttribute}, {Pattern: `"(?:\\.|[^"\\\n])*"?`, Type: chroma.LiteralString}}}.rules},
		{name: "YAML", files: "*.yaml *.yml", rules: code{quotes: `"`, raw: `'`, consts: "true false null yes no",
			extra: []chroma.Rule{{Pattern: `(?m)(?:(?<=^|[ \t]))#[^\n]*`, Type: chroma.Comment}, {Pattern: `[\w./$-]+(?=:(?:\s|$))`, Type: chroma.NameAttribute}, {Pattern: `[&*][\w-]+`, Type: chroma.NameVariable}, {Pattern: `[A-Za-z_][\w./-]*`, Type: chroma.Text}}}.rules},
		{name: "CSS", files: "*.css *.scss *.sass *.less", rules: code{block: [2]string{`/\*`, `\*/`}, quotes: `"'`,
			extra: []chroma.Rule{{Pattern: `@[\w-]+`, Type: chroma.Keyword}, {Pattern: `#[\da-fA-F]{3,8}\b`, Type: chroma.LiteralNumber}, {Pattern: `--[\w-]+`, Type: chroma.NameVariable}, {Pattern: `[.#][A-Za-z_][\w-]*`, Type: chroma.NameTag}, {Pattern: `[a-z-]+(?=\s*:)`, Type: chroma.NameAttribute}, {Pattern: `[A-Za-z][\w-]*`, Type: chroma.Text}}}.rules},
		{name: "HTML", files: "*.html *.htm *.xml *.svg *.vue *.svelte *.xhtml *.plist *.tmpl *.gohtml", rules: markupRules},
		{name: "Markdown", files: "*.md *.markdown", rules: markdownRules},
		{name: "Diff", files: "*.diff *.patch", rules: func() chroma.Rules {
			return chroma.Rules{"root": {
				{Pattern: `(?m)^@@[^\n]*`, Type: chroma.GenericHeading}, {Pattern: `(?m)^(?:diff|index|---|\+\+\+)[^\n]*`, Type: chroma.Keyword},
				{Pattern: `[^\n]+`, Type: chroma.Text}, anything,
			}}
		}},
	}
}

func markupRules() chroma.Rules {
	out := chroma.Rules{}
	out["root"] = []chroma.Rule{
		{Pattern: `[^<&{]+`, Type: chroma.Text},
		between(out, "comment", `<!--`, `-->`, chroma.Comment),
		{Pattern: `\{\{[^}\n]{0,400}\}\}`, Type: chroma.Keyword}, // templates
		{Pattern: `</?[A-Za-z][\w:.-]*`, Type: chroma.NameTag, Mutator: chroma.Push("tag")},
		{Pattern: `<[!?][^>\n]*>?`, Type: chroma.KeywordPseudo},
		{Pattern: `&[#\w]+;`, Type: chroma.KeywordConstant},
		anything,
	}
	out["tag"] = []chroma.Rule{
		{Pattern: `/?>`, Type: chroma.NameTag, Mutator: chroma.Pop(1)},
		{Pattern: `\{\{[^}\n]{0,400}\}\}`, Type: chroma.Keyword},
		{Pattern: `[^\s=>/"'{]+`, Type: chroma.NameAttribute},
		{Pattern: `"[^"]*"?|'[^']*'?`, Type: chroma.LiteralString},
		anything,
	}
	return out
}

func markdownRules() chroma.Rules {
	out := chroma.Rules{}
	out["root"] = []chroma.Rule{
		{Pattern: `(?m)^#{1,6}[ \t][^\n]*`, Type: chroma.GenericHeading},
		{Pattern: "(?m)^```[^\n]*", Type: chroma.LiteralString, Mutator: chroma.Push("fence")},
		{Pattern: "`[^`\n]+`", Type: chroma.LiteralString},
		{Pattern: `(?m)^[ \t]*(?:[-*+]|\d+\.)(?=[ \t])`, Type: chroma.Keyword},
		{Pattern: `(?m)^>[^\n]*`, Type: chroma.Comment},
		between(out, "comment", `<!--`, `-->`, chroma.Comment),
		{Pattern: `\]\([^)\n]*\)`, Type: chroma.NameAttribute},
		{Pattern: "[^`\\n#<\\]>*+-]+", Type: chroma.Text},
		anything,
	}
	out["fence"] = []chroma.Rule{
		{Pattern: "(?m)^```[ \t]*$", Type: chroma.LiteralString, Mutator: chroma.Pop(1)},
		{Pattern: "[^\n]+", Type: chroma.LiteralString},
		{Pattern: `\n`, Type: chroma.Text},
	}
	return out
}
